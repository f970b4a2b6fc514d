"""A worker that reads `turns` and writes to `paces` how fast each reply came."""

from collections.abc import Collection
from typing import Annotated

from prometheus_client import Histogram
from pydantic import Field

from schemas.base import Record, Snowflake, TurnId
from schemas.errors import UnknownRecordType
from schemas.headers import Facts
from schemas.registry import decode
from schemas.turns import TurnFinished
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import output

PACE = Histogram("odradek_pace", "Characters of a reply a second", buckets=(10, 30, 100, 300, 1_000))


class Pace(Record):
    """How fast a turn's reply came, in characters a second."""

    channel_id: Snowflake
    turn: TurnId
    characters_per_s: Annotated[float, Field(ge=0)]


class PaceHandler:
    """Keeps no state: the same turn always gives the same record."""

    async def handle(self, inbound: Inbound) -> None:
        """Write one pace; a turn in which no text came has none."""
        _, turn = decode(inbound.record.headers, inbound.record.value)
        if not isinstance(turn, TurnFinished):
            raise UnknownRecordType(f"{type(turn).__name__} has no place in turns")
        first_ms, last_ms = turn.timings.first_chunk_ms, turn.timings.finished_ms
        if first_ms is None or last_ms <= first_ms:
            return
        pace = turn.characters * 1_000 / (last_ms - first_ms)
        record = Pace(channel_id=turn.channel_id, turn=turn.turn, characters_per_s=pace)
        inbound.emit(output("paces", record, channel=turn.channel_id, event_id=f"pace:{turn.turn}", turn=turn.turn))
        PACE.observe(pace)

    def arrived(self, inbound: Inbound) -> bool:
        """Nothing overtakes here."""
        return False

    async def recover(self, partitions: Collection[int]) -> None:
        """Nothing to load."""

    def dropped(self, partitions: Collection[int]) -> None:
        """Nothing to forget."""

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """Nobody waits for a pace, so its absence ends nothing."""
        return []


async def build(_: Context) -> PaceHandler:
    """The handler of one process."""
    return PaceHandler()


SPEC = WorkerSpec(name="pace", reads="turns", build=build)
