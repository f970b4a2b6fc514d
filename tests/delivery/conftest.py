"""A local Discord, a delivery handler logged in to it, and a log that keeps what it is given."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field

import discord
import pytest

from schemas.base import Record
from schemas.discord import created_ms
from schemas.identities import turn_of_message
from schemas.inbox import DeliveryReceipt, Outcome
from schemas.registry import decode
from services.delivery import take_overs
from services.delivery.discord_channels import LONGEST_WAIT_S, DiscordChannels
from services.delivery.fence import Fence
from services.delivery.handler import DeliveryHandler
from services.delivery.heartbeats import Pace
from services.delivery.worker import trace
from services.runtime.discord import RestSession
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import output
from services.runtime.settings import Settings
from services.sandbox.discord.entities import Message
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord

TOKEN = "sandbox-token"
TURN = "m1"
CAUSE = 77
"""The inbox offset that orders name as their cause."""


def snowflake_at(now_ms: int) -> int:
    """The first id of a millisecond."""
    return (now_ms - created_ms("0")) << 22


@dataclass
class KeptLog:
    """Stands for the sender and the log: keeps records and acknowledges them at once. All share one `inbox`."""

    inbox: list[NewRecord] = field(default_factory=list)
    records: list[NewRecord] = field(default_factory=list)
    reads: int = 0
    settled: dict[str, int] = field(default_factory=dict)

    def send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        future.set_result(Appended(partition=0, offset=len(self.records)))
        self.records.append(new)
        self.inbox.append(new)
        return future

    async def ends(self, topic: str, partitions: Collection[int]) -> dict[int, int]:
        return dict.fromkeys(partitions, self.settled[topic]) if topic in self.settled else {}

    async def read_to_end(
        self, topic: str, partitions: Collection[int], *, since_ms: int = 0
    ) -> AsyncIterator[LogRecord]:
        self.reads += 1
        for offset, new in enumerate(self.inbox):
            yield LogRecord(topic, 0, offset, 0, new.key, new.value, new.headers)

    @property
    def receipts(self) -> list[tuple[int, Outcome]]:
        read = [decode(new.headers, new.value)[1] for new in self.records if new.topic == "inbox"]
        return [(one.sequence, one.outcome) for one in read if isinstance(one, DeliveryReceipt)]


class LateClock:
    """A clock that stands still, plus what a test adds."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self.late_ms = 0

    def now_ms(self) -> int:
        return self._now_ms + self.late_ms


@dataclass
class Delivery:
    """A delivery process's parts, as its worker binds them."""

    sandbox: SandboxDiscord
    handler: DeliveryHandler
    log: KeptLog
    clock: LateClock
    finished: int = 0

    @property
    def channel(self) -> str:
        return str(self.sandbox.world.channel("general").id)

    def shown(self) -> list[Message]:
        """What the bot has said in #general, the oldest first."""
        world = self.sandbox.world
        return [one for one in world.messages(world.channel("general")) if one.author is world.bot]

    def young_turn(self) -> str:
        """A turn whose message was written just now; others, such as m1, are years old."""
        return turn_of_message(str(snowflake_at(self.clock.now_ms())))

    def inbound(self, order: Record, *, age_ms: int = 0, partition: int = 0, offset: int | None = None) -> Inbound:
        """The order as the runtime hands it over; its record is `age_ms` old and stands at its sequence, or at `offset`."""
        values = order.model_dump()
        turn, sequence = values["turn"], values.get("sequence", 0)
        new = output(
            "deliveries",
            order,
            channel=values["channel_id"],
            event_id=f"delivery:{turn}:{sequence}",
            turn=turn,
            sequence=sequence,
            cause=CAUSE,
        )
        written_ms = self.clock.now_ms() - age_ms
        at = sequence if offset is None else offset
        record = LogRecord("deliveries", partition, at, written_ms, new.key, new.value, new.headers)
        facts = decode(new.headers, new.value)[0]
        return Inbound(record, facts, self.log, Pending(self._finish))  # type: ignore[arg-type]

    async def give(self, order: Record, *, age_ms: int = 0, offset: int | None = None) -> None:
        inbound = self.inbound(order, age_ms=age_ms, offset=offset)
        if not self.handler.arrived(inbound):
            await self.handler.handle(inbound)

    async def take_over(self, *, deliveries: int = 0, inbox: int = CAUSE) -> None:
        """Own the partition, and know where the topics ended when nobody else could send any more."""
        self.log.settled = {"deliveries": deliveries, "inbox": inbox}
        await self.handler.recover([0])
        while self.handler._take_overs.may_be_sent(0, deliveries, inbox):
            await asyncio.sleep(0)

    def _finish(self) -> None:
        self.finished += 1


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SandboxDiscord]:
    """A local Discord without rate limits; discord.py forgets its address afterwards."""
    for owner, name in ((discord.http.Route, "BASE"), (discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    async with SandboxDiscord(SandboxConfig(limits=LimitsConfig(enabled=False))) as server:
        yield server


@pytest.fixture
async def settings(sandbox: SandboxDiscord) -> Settings:
    address = await sandbox.start()
    return Settings(discord_token=TOKEN, discord_api=address.api_url, discord_gateway=address.gateway_url)


@dataclass
class Heard:
    """How old the group's last word to the process is."""

    age_s: float = 0.0


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def fence(heard: Heard) -> Fence:
    return Fence(lambda: heard.age_s)


@pytest.fixture
async def session(settings: Settings, fence: Fence) -> AsyncIterator[RestSession]:
    """A REST session that is logged in, as the worker makes it."""
    rest = RestSession(settings, http_trace=trace(fence), longest_wait_s=LONGEST_WAIT_S)
    running = asyncio.create_task(rest.run())
    while rest.missing() is not None:
        await asyncio.sleep(0)
    yield rest
    running.cancel()
    await asyncio.wait([running])


StartDelivery = Callable[[], Delivery]


@pytest.fixture
async def start_delivery(
    sandbox: SandboxDiscord, session: RestSession, fence: Fence, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StartDelivery]:
    """Starts deliveries on one Discord and one inbox, each with a memory of its own."""
    monkeypatch.setattr(take_overs, "SETTLED_S", 0.0)
    started: list[Delivery] = []
    inbox: list[NewRecord] = []

    def start() -> Delivery:
        clock = LateClock(sandbox.world.state.now_ms())
        log = KeptLog(inbox)
        handler = DeliveryHandler(
            lambda: DiscordChannels(session.client(), session.limits_all),
            clock,
            log,  # type: ignore[arg-type]
            fence,
            Pace(beat_s=0.01, cap_s=30, after_message_s=0.01),
        )
        started.append(Delivery(sandbox, handler, log, clock))
        return started[-1]

    yield start
    for delivery in started:
        await delivery.handler.close()


@pytest.fixture
async def delivery(start_delivery: StartDelivery) -> Delivery:
    return start_delivery()
