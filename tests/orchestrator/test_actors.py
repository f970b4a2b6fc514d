"""What a process keeps of its channels: bounded, and nothing that the fold would notice is lost by packing.

The actors run in virtual time over a wire that this test answers, so that it can leave the fold behind.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest

from schemas.channels import ChannelSnapshot
from schemas.headers import HeaderReader
from schemas.inbox import Admitted, Author, FoldSettings, MessageReceived, Refused
from schemas.registry import decode
from services.orchestrator.actors import SNAPSHOT_TOPIC, Actors
from services.orchestrator.fold import Event
from services.orchestrator.residents import pack, unpack
from services.orchestrator.state import from_snapshot
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import output
from services.sandbox.simulation.loop import VirtualLoop

START_MS = 1_700_000_000_000


@dataclass
class Wire:
    """The log as the actors see it: what was sent, acknowledged at once unless `silent` names the topic."""

    sent: list[NewRecord] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    open: list[tuple[NewRecord, "asyncio.Future[Appended]"]] = field(default_factory=list)
    inbox_end: int = 0

    def send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self.sent.append(new)
        self.open.append((new, future))
        if new.topic not in self.silent:
            self.answer()
        return future

    def answer(self) -> None:
        """Acknowledge what is open."""
        for new, future in self.open:
            offset = self.inbox_end if new.topic == "inbox" else 0
            self.inbox_end += new.topic == "inbox"
            future.set_result(Appended(0, offset))
        self.open = []

    def of(self, topic: str) -> list[NewRecord]:
        return [new for new in self.sent if new.topic == topic]

    def snapshots(self) -> list[ChannelSnapshot]:
        found = [decode(new.headers, new.value)[1] for new in self.of(SNAPSHOT_TOPIC)]
        return [snapshot for snapshot in found if isinstance(snapshot, ChannelSnapshot)]


@dataclass
class Process:
    """An orchestrator's actors, with a wall clock that goes with virtual time."""

    wire: Wire
    most: int
    finished: list[int] = field(default_factory=list)
    actors: Any = None

    def __post_init__(self) -> None:
        self.actors = Actors(None, self.wire, self, most=self.most)  # type: ignore[arg-type]

    def now_ms(self) -> int:
        return START_MS + int(asyncio.get_running_loop().time() * 1000)

    def tell(self, channel: str, event: Event, *, offset: int, at_ms: int) -> None:
        record = output("inbox", event, channel=channel, event_id=f"event:{offset}")
        pending = Pending(lambda: self.finished.append(offset))
        facts = HeaderReader(record.headers).facts()
        read = LogRecord("inbox", 0, offset, at_ms, record.key, record.value, record.headers)
        self.actors.receive(Inbound(read, facts, self.wire, pending), event)  # type: ignore[arg-type]
        pending.release()

    @property
    def residents(self) -> Any:
        return self.actors._residents


def run(body: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run a coroutine function in virtual time."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(body())
    finally:
        loop.close()


def message(channel: str, number: int, *, refused: bool = False, **options: Any) -> MessageReceived:
    return MessageReceived(
        channel_id=channel,
        guild_id=None,
        message_id=str(number),
        author=Author(id="1", name="Ada"),
        content="hello",
        source="direct",
        settings=FoldSettings.model_validate(options),
        admission=Refused(reason="cooldown", notice="") if refused else Admitted(),
    )


def test_with_ten_thousand_channels_only_so_many_actors_are_kept_and_the_rest_is_small() -> None:
    async def body() -> None:
        process = Process(Wire(), most=100)
        for number in range(10_000):
            process.tell(
                str(7_000 + number),
                message(str(7_000 + number), number + 1, refused=True),
                offset=number,
                at_ms=START_MS,
            )
            if number % 50 == 0:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert process.residents.actors() == 100
        assert process.residents.packed() == 9_900
        sizes = [len(packed.state) for packed in process.residents._partitions[0].packed.values()]
        assert max(sizes) < 300
        assert len(process.finished) == 10_000

    run(body)


def test_a_full_memory_of_a_channel_is_packed_into_four_kilobytes_and_comes_back_as_it_was(channel: Any) -> None:
    for number in range(300):
        channel.message(1_300_000_000_000_000_000 + number * 7_654_321_987_654, refused="")
    for number in range(80):
        channel.stop(1_400_000_000_000_000_000 + number * 9_876_543_219_876, manner="kill")
    packed = pack(channel.state, settled=4, folded=5, written=True)
    assert len(packed.state) < 4_096
    actor = unpack(packed, 3)
    assert (actor.state, actor.settled, actor.folded, actor.written, actor.partition) == (channel.state, 4, 5, True, 3)


def test_a_channel_with_anything_unsettled_is_not_packed() -> None:
    async def body() -> None:
        process = Process(Wire(silent={SNAPSHOT_TOPIC}), most=0)
        process.tell("5", message("5", 1, refused=True), offset=0, at_ms=START_MS)
        process.tell("6", message("6", 2), offset=2, at_ms=START_MS)
        await asyncio.sleep(1)
        assert process.residents.actors() == 2
        process.wire.answer()
        await asyncio.sleep(1)
        assert process.residents.packed() == 1
        assert process.residents.find(0, "6").state.turn is not None

    run(body)


def test_a_channel_that_is_packed_at_every_rest_goes_on_as_the_fold_does(channel: Any) -> None:
    early, ten_minutes = 1_000_000, 600_000
    channel.message(100)
    channel.reply("One.\n\n", "Two.")
    channel.message(100)
    channel.stop(early, manner="kill")
    channel.message(200)
    channel.message(early + 1)
    channel.message(early + 2, author="2")
    channel.reply("Three.")
    channel.reply("Four.")
    channel.now += ten_minutes
    channel.message(300)
    channel.reply("Five.")
    assert channel.finished() == [
        "m100 completed",
        "m200 killed",
        f"m{early + 1} completed",
        f"m{early + 2} completed",
        "m300 completed",
    ]
    wire = Wire()

    async def body() -> None:
        process = Process(wire, most=0)
        packed = 0
        for offset, (event, now) in enumerate(channel.history):
            process.tell("500", event, offset=offset, at_ms=now)
            await asyncio.sleep(1)
            packed += process.residents.packed()
        assert packed == 6
        assert len(process.finished) == len(channel.history)

    run(body)
    found = [HeaderReader(new.headers).facts().id for new in wire.sent if new.topic not in (SNAPSHOT_TOPIC, "inbox")]
    assert found == [out.id for out in channel.outputs]
    assert from_snapshot(wire.snapshots()[-1]) == channel.state


def test_what_was_written_since_the_takeover_is_written_again_also_of_packed_channels() -> None:
    async def body() -> None:
        process = Process(Wire(), most=10)
        for number in range(250):
            process.tell(str(number), message(str(number), number + 1, refused=True), offset=2 * number, at_ms=START_MS)
        await asyncio.sleep(1)
        before = {snapshot.channel_id: snapshot for snapshot in process.wire.snapshots()}
        process.wire.sent.clear()
        await process.actors._rewrite(0)
        assert {snapshot.channel_id: snapshot for snapshot in process.wire.snapshots()} == before
        assert len(process.wire.snapshots()) == 250
        await asyncio.sleep(1)
        assert process.residents.actors() == 10

    run(body)


@pytest.mark.parametrize("away", [False, True], ids=["fold-behind", "broker-away"])
def test_overdue_timers_do_not_pile_up_while_nobody_reads_them(away: bool) -> None:
    async def body() -> None:
        wire = Wire(silent={"inbox"} if away else set(), inbox_end=1_000)
        process = Process(wire, most=10)
        for number in range(50):
            event = message(str(number), number + 1, generation_deadline_ms=1_000)
            process.tell(str(number), event, offset=number, at_ms=START_MS)
        await asyncio.sleep(3_600)
        assert len(wire.of("inbox")) == 50

    run(body)


def test_a_timer_that_was_read_too_early_is_written_again() -> None:
    async def body() -> None:
        wire = Wire(inbox_end=1_000)
        process = Process(wire, most=10)
        process.tell("5", message("5", 1, generation_deadline_ms=1_000), offset=0, at_ms=START_MS)
        await asyncio.sleep(5)
        [new] = wire.of("inbox")
        _, fired = decode(new.headers, new.value)
        process.tell("5", fired, offset=1_000, at_ms=START_MS + 999)  # type: ignore[arg-type]
        await asyncio.sleep(60)
        assert [again.value for again in wire.of("inbox")] == [new.value, new.value]
        process.tell("5", fired, offset=1_001, at_ms=START_MS + 1_000)  # type: ignore[arg-type]
        assert wire.of("control"), "the timer took effect"

    run(body)
