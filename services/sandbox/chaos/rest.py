"""Whether anything still goes on: turns without an end, and records that a group has not committed."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import asyncio
import contextlib
from collections.abc import Collection

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from services.runtime.log import LogRecord
from services.sandbox.chaos.stage import Stage
from services.sandbox.checking.reading import CONSUMERS

QUIET_S = 3.0
"""For so long nothing may go on before it counts as rest."""

_LOOK_EVERY_S = 0.5
_ANSWER_S = 5.0


class EndedTurns:
    """The turns that have a result, told by whoever follows `turns`."""

    def __init__(self) -> None:
        self.turns: set[str] = set()
        self._awaited: dict[str, asyncio.Event] = {}

    def take(self, record: LogRecord) -> None:
        """One record of `turns`."""
        with contextlib.suppress(BadRecord):
            turn = HeaderReader(record.headers).text("turn")
            if turn is not None:
                self.turns.add(turn)
                awaited = self._awaited.get(turn)
                if awaited is not None:
                    awaited.set()

    async def wait(self, turn: str) -> None:
        """Wait until the turn has a result; one at a time a turn."""
        if turn in self.turns:
            return
        awaited = self._awaited[turn] = asyncio.Event()
        try:
            await awaited.wait()
        finally:
            del self._awaited[turn]


async def wait_for_rest(stage: Stage, asked: Collection[str], ended: EndedTurns, within_s: float) -> list[str]:
    """Wait until nothing goes on; returns what still does after `within_s` seconds."""
    loop = asyncio.get_running_loop()
    until, quiet_since = loop.time() + within_s, None
    while True:
        open_turns = sorted(set(asked) - ended.turns)
        left = [f"turn {turn} has no result" for turn in open_turns] or await _behind(stage)
        now = loop.time()
        if left:
            quiet_since = None
        elif quiet_since is None:
            quiet_since = now
        elif now - quiet_since >= QUIET_S:
            return []
        if now >= until:
            return left
        await asyncio.sleep(_LOOK_EVERY_S)


async def _behind(stage: Stage) -> list[str]:
    """What the groups have not committed."""
    admin = AIOKafkaAdminClient(bootstrap_servers=stage.settings.kafka)
    try:
        async with asyncio.timeout(_ANSWER_S):
            await admin.start()
            behind: list[str] = []
            for topic, group in CONSUMERS.items():
                ends = await stage.log.ends(topic, range(stage.partitions))
                places = [TopicPartition(f"{stage.settings.prefix}{topic}", number) for number in ends]
                found = await admin.list_consumer_group_offsets(f"{stage.settings.prefix}{group}", partitions=places)
                for place in places:
                    at, end = max(0, found[place].offset), ends[place.partition]
                    if at < end:
                        behind.append(f"{group} has committed {topic}/{place.partition} to {at} of {end}")
            return behind
    except (KafkaError, TimeoutError) as error:
        return [f"the broker does not tell what is committed ({type(error).__name__})"]
    finally:
        with contextlib.suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                await admin.close()
