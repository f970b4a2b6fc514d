"""Actors on a real log: outputs, then the snapshot, then the commit; and the same bytes whoever folds."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from schemas.channels import ChannelSnapshot
from schemas.chunks import DoneChunk, DoneMetadata, TextChunk
from schemas.headers import HeaderReader
from schemas.identities import turn_of_message
from schemas.inbox import Author, ChunkBatch, DeliveryReceipt, FoldSettings, MessageReceived, Sent
from schemas.registry import decode
from schemas.turns import TurnFinished
from services.orchestrator import actors as module
from services.orchestrator import timers
from services.orchestrator.actors import _record
from services.orchestrator.fold import fold
from services.orchestrator.state import ChannelState, to_snapshot
from services.orchestrator.step import Position
from services.orchestrator.worker import SPEC
from services.runtime.clock import SystemClock
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import output

OUTPUTS = ("generations", "deliveries", "control", "turns")


@dataclass
class Talk:
    """One channel's events, as the other workers would write them."""

    channel: str

    def message(self, number: int, **settings: object) -> NewRecord:
        record = MessageReceived(
            channel_id=self.channel,
            guild_id=None,
            message_id=str(number),
            author=Author(id="1", name="Ada"),
            content="hello",
            source="direct",
            settings=FoldSettings.model_validate(settings),
        )
        return output("inbox", record, channel=self.channel, event_id=f"message:{number}")

    def batch(self, number: int, sequence: int, text: str = "", *, done: bool = False) -> NewRecord:
        turn = turn_of_message(str(number))
        chunks = (DoneChunk(metadata=DoneMetadata(finish_reason="stop")),) if done else (TextChunk(content=text),)
        record = ChunkBatch(
            turn=turn, generation=1, sequence=sequence, instance="p-0", chunks=chunks, end="eof" if done else None
        )
        return output(
            "inbox", record, channel=self.channel, event_id=f"batch:{turn}:{sequence}", turn=turn, generation=1,
            sequence=sequence,
        )  # fmt: skip

    def receipt(self, number: int, sequence: int) -> NewRecord:
        turn = turn_of_message(str(number))
        record = DeliveryReceipt(turn=turn, sequence=sequence, outcome=Sent(message_id=f"{number}{sequence}"))
        return output("inbox", record, channel=self.channel, event_id=f"receipt:{turn}:{sequence}", turn=turn)


@dataclass
class Gate:
    """Keeps the acknowledgements of one topic back, and notes what is sent in which order."""

    topic: str
    open: asyncio.Event
    sent: list[str]
    offsets: list[int]

    def __call__(self, log: Any) -> None:
        send = log.send

        async def gated(record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
            self.sent.append(record.topic)
            inner = await send(record, partition)
            if record.topic != self.topic:
                return inner

            async def later() -> Appended:
                await self.open.wait()
                return await inner

            return asyncio.ensure_future(later())

        log.send = gated


def gate(topic: str) -> Gate:
    return Gate(topic, asyncio.Event(), [], [])


def events(cluster: Any, channel: str) -> list[LogRecord]:
    return [r for r in cluster.records["inbox"] if HeaderReader(r.headers).need("channel") == channel]


def events_of(cluster: Any, kind: str) -> list[LogRecord]:
    return [r for r in cluster.records["inbox"] if HeaderReader(r.headers).need("type") == kind]


def expected_outputs(inbox: list[LogRecord], channel: str) -> list[NewRecord]:
    """What the fold alone makes of the channel's inbox, each output once."""
    state = ChannelState(channel_id=channel)
    found: dict[tuple[str, object], NewRecord] = {}
    for record in inbox:
        _, event = decode(record.headers, record.value)
        folded = fold(state, event, Position(record.offset, record.timestamp_ms))  # type: ignore[arg-type]
        state = folded.state
        for out in folded.outputs:
            new = _record(out)
            found.setdefault((new.topic, HeaderReader(new.headers).facts().id), new)
    return list(found.values())


def by_topic(records: list[Any]) -> dict[str, list[tuple[bytes | None, Any]]]:
    found: dict[str, list[tuple[bytes | None, Any]]] = {}
    for record in records:
        found.setdefault(record.topic, []).append((record.value, record.headers))
    return found


def statuses(cluster: Any) -> list[str]:
    found = [decode(r.headers, r.value)[1] for r in cluster.firsts("turns")]
    return [f"{r.turn} {r.status}" for r in found if isinstance(r, TurnFinished)]


def snapshots(cluster: Any) -> list[ChannelSnapshot]:
    found = [decode(r.headers, r.value)[1] for r in cluster.records["channels"]]
    return [r for r in found if isinstance(r, ChannelSnapshot)]


@pytest.fixture
def talk(channels_of: Callable[[int, int], list[str]]) -> Talk:
    return Talk(channels_of(0, 1)[0])


def texts_of(cluster: Any, turn: int) -> list[int]:
    """The sequences of the turn's messages."""
    found = [HeaderReader(r.headers).facts() for r in cluster.firsts("deliveries")]
    return [f.sequence for f in found if f.type == "SendText" and f.turn == turn_of_message(str(turn))]  # type: ignore[misc]


async def finish(cluster: Any, talk: Talk, number: int) -> None:
    """Let the turn's text be shown and received."""
    await cluster.until(lambda: texts_of(cluster, number), "the text")
    for sequence in texts_of(cluster, number):
        await cluster.send(talk.receipt(number, sequence))
    turn = turn_of_message(str(number))
    await cluster.until(lambda: any(s.startswith(f"{turn} ") for s in statuses(cluster)), "the turn's end")


async def test_a_record_is_not_finished_before_its_snapshot_is_acknowledged(cluster: Any, talk: Talk) -> None:
    await cluster.follow("inbox", "channels", *OUTPUTS)
    snapshot_gate = gate("channels")
    worker = await cluster.worker(SPEC, adapt=snapshot_gate)
    await cluster.send(talk.message(100), talk.batch(100, 0, "Hello. "), talk.batch(100, 1, done=True))
    await finish(cluster, talk, 100)
    await cluster.until(lambda: snapshots(cluster), "the snapshot in the log")
    acks = worker.feed._owned[0].acks
    assert acks.committable is None
    snapshot_gate.open.set()
    await worker.assembly.context.sender.flush()
    await asyncio.sleep(0)
    assert acks.committable == len(cluster.records["inbox"])
    await worker.feed.commit()
    assert worker.feed._owned[0].committed == acks.committable


async def test_a_snapshot_is_not_written_before_the_outputs_of_what_it_settles_are_acknowledged(
    cluster: Any, talk: Talk
) -> None:
    await cluster.follow("inbox", "channels", *OUTPUTS)
    turns_gate = gate("turns")
    worker = await cluster.worker(SPEC, adapt=turns_gate)
    await cluster.send(talk.message(100), talk.batch(100, 0, "Hello. "), talk.batch(100, 1, done=True))
    await finish(cluster, talk, 100)
    await worker.assembly.context.sender.send(talk.message(100))  # time for a snapshot that would not wait
    await cluster.until(lambda: len(cluster.records["inbox"]) == 5, "the repeated message")
    assert "channels" not in turns_gate.sent
    assert worker.feed._owned[0].acks.committable is None
    turns_gate.open.set()
    await cluster.until(lambda: snapshots(cluster), "the snapshot")
    assert set(turns_gate.sent[: turns_gate.sent.index("channels")]) >= {"generations", "deliveries", "turns"}


async def test_a_restart_in_the_middle_of_turns_gives_the_fold_of_the_inbox_byte_for_byte(
    cluster: Any, channels_of: Callable[[int, int], list[str]]
) -> None:
    await cluster.follow("inbox", "channels", *OUTPUTS)
    talks = [Talk(channel) for partition in (0, 1) for channel in channels_of(partition, 2)]
    first = await cluster.worker(SPEC)
    for talk in talks:
        await cluster.send(talk.message(100), talk.batch(100, 0, "Whole. "), talk.batch(100, 1, done=True))
    for talk in talks:
        await cluster.until(lambda t=talk: cluster.firsts("deliveries", channel=t.channel), "a delivery")
    await cluster.until(lambda: len(cluster.firsts("deliveries")) >= 2 * len(talks), "the first texts")
    for talk in talks:
        own = [HeaderReader(r.headers).facts() for r in cluster.firsts("deliveries", channel=talk.channel)]
        await cluster.send(*(talk.receipt(100, f.sequence) for f in own if f.type == "SendText"))
    await cluster.until(lambda: len(cluster.firsts("turns")) == len(talks), "the first turns")
    await cluster.until(lambda: len({s.channel_id for s in snapshots(cluster)}) == len(talks), "snapshots")
    await first.assembly.context.sender.flush()
    await first.feed.commit()
    # Half of the second turn is folded and not settled, then the process dies.
    for talk in talks:
        await cluster.send(talk.message(200), talk.batch(200, 0, "Half of it. "))
    await cluster.until(lambda: len(cluster.firsts("generations")) == 2 * len(talks), "the second generations")
    await first.crash()
    for talk in talks:
        await cluster.send(talk.batch(200, 1, "The rest. "), talk.batch(200, 2, done=True))
    second = await cluster.worker(SPEC)

    def turn_200_done() -> bool:
        return all(cluster.firsts("turns", channel=talk.channel)[1:] for talk in talks)

    answered: set[tuple[str, int]] = set()

    async def answer() -> None:
        for talk in talks:
            for record in cluster.firsts("deliveries", channel=talk.channel):
                facts = HeaderReader(record.headers).facts()
                key = (talk.channel, facts.sequence or 0)
                if facts.turn == "m200" and facts.type == "SendText" and key not in answered:
                    answered.add(key)
                    await cluster.send(talk.receipt(200, key[1]))

    async with asyncio.timeout(60):
        while not turn_200_done():
            seen = len(cluster.records["deliveries"])
            await answer()
            await cluster.until(
                lambda seen=seen: turn_200_done() or len(cluster.records["deliveries"]) > seen, "the second turns"
            )
    await second.assembly.context.sender.flush()
    assert cluster.copies_are_equal(*OUTPUTS)
    for talk in talks:
        expected = by_topic(expected_outputs(events(cluster, talk.channel), talk.channel))
        found = by_topic(cluster.firsts(*OUTPUTS, channel=talk.channel))
        assert found == expected
    # What the snapshots had settled was not folded again: nothing of the first turns stands twice.
    ids = [HeaderReader(r.headers).facts() for t in ("generations", "deliveries") for r in cluster.records[t]]
    assert len([f for f in ids if f.turn == "m100"]) == len({(f.channel, f.id) for f in ids if f.turn == "m100"})


async def test_a_timer_fires_when_its_time_has_come_and_ends_the_turn(cluster: Any, talk: Talk) -> None:
    await cluster.follow("inbox", *OUTPUTS)
    await cluster.worker(SPEC)
    await cluster.send(talk.message(100, generation_deadline_ms=300))
    await cluster.until(lambda: texts_of(cluster, 100), "the notice of the deadline")
    await cluster.until(lambda: events_of(cluster, "TimerFired"), "the timer in the inbox")
    [message] = events_of(cluster, "MessageReceived")
    assert HeaderReader(events_of(cluster, "TimerFired")[0].headers).number("cause") == message.offset


async def test_a_timer_that_fires_early_is_ignored_and_fires_again(
    cluster: Any, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timers, "TIMER_AGAIN_S", 0.02)

    class Ahead:
        def now_ms(self) -> int:
            return SystemClock().now_ms() + 3_600_000

    await cluster.follow("inbox", *OUTPUTS)
    worker = await cluster.worker(SPEC, clock=Ahead())
    await cluster.send(talk.message(100))
    await cluster.until(lambda: len(events_of(cluster, "TimerFired")) >= 3, "early timers")
    assert len({HeaderReader(r.headers).need("id") for r in events_of(cluster, "TimerFired")}) == 1
    await cluster.send(talk.batch(100, 0, "Still here. "), talk.batch(100, 1, done=True))
    await cluster.until(lambda: texts_of(cluster, 100), "the text")
    [record] = [r for r in cluster.firsts("deliveries") if HeaderReader(r.headers).need("type") == "SendText"]
    assert b"Still here." in (record.value or b"")
    await worker.stop()


async def test_a_turn_that_goes_on_quietly_is_written_down_in_time(
    cluster: Any, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SNAPSHOT_EVERY_S", 0.1)
    await cluster.follow("inbox", "channels", *OUTPUTS)
    worker = await cluster.worker(SPEC)
    await cluster.send(talk.message(100))
    await cluster.until(lambda: snapshots(cluster), "a snapshot without another event")
    await worker.assembly.context.sender.flush()
    await asyncio.sleep(0)
    assert worker.feed._owned[0].acks.committable == 1
    assert snapshots(cluster)[0].settled == 0


async def test_after_the_takeover_only_what_was_written_since_is_written_again(
    cluster: Any, channels_of: Callable[[int, int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, active = channels_of(0, 2)
    await cluster.send(
        *(
            output("channels", to_snapshot(ChannelState(channel_id=channel), 0), channel=channel, event_id=channel)
            for channel in (old, active)
        )
    )
    await cluster.follow("channels", "inbox", *OUTPUTS)
    await cluster.send(Talk(old).message(100))  # offset 0, which both snapshots have settled
    monkeypatch.setattr(module, "SNAPSHOT_EVERY_EVENTS", 1)
    worker = await cluster.worker(SPEC)
    await cluster.send(Talk(active).message(200))
    await cluster.until(lambda: len(cluster.records["channels"]) == 3, "the active channel's snapshot")
    await worker.assembly.context.sender.flush()
    await worker.feed._handler._actors._rewrite(0)
    await cluster.until(lambda: len(cluster.records["channels"]) == 4, "the snapshot once more")
    await worker.assembly.context.sender.flush()
    assert [s.channel_id for s in snapshots(cluster)[2:]] == [active, active]
    assert cluster.records["channels"][2].value == cluster.records["channels"][3].value
    assert not cluster.firsts("generations", channel=old)


async def test_a_snapshot_that_cannot_be_read_does_not_keep_the_partition_from_starting(
    cluster: Any, channels_of: Callable[[int, int], list[str]]
) -> None:
    broken, other_version, good = channels_of(0, 3)
    snapshots_written = [
        ChannelSnapshot(channel_id=broken, settled=0, state_version=1, state={"channel_id": broken, "turn": 5}),
        ChannelSnapshot(channel_id=other_version, settled=0, state_version=999, state={}),
        to_snapshot(ChannelState(channel_id=good, recent=("7",)), 0),
    ]
    await cluster.send(*(output("channels", s, channel=s.channel_id, event_id=s.channel_id) for s in snapshots_written))
    await cluster.follow("inbox", *OUTPUTS)
    worker = await cluster.worker(SPEC)
    await cluster.send(*(Talk(channel).message(100) for channel in (good, broken, other_version)))
    await cluster.until(lambda: len(cluster.firsts("generations")) == 2, "the turns of the channels that start anew")
    found = worker.feed._handler._actors._residents.find(0, good)
    assert found.state.recent[0] == "7"


async def test_a_partition_that_goes_takes_its_timers_along(cluster: Any, talk: Talk) -> None:
    await cluster.follow("inbox", *OUTPUTS)
    worker = await cluster.worker(SPEC)
    await cluster.send(talk.message(100))
    await cluster.until(lambda: cluster.records["generations"], "the generation")
    actors = worker.feed._handler._actors
    actor = actors._residents.find(0, talk.channel)
    assert actor.timer is not None
    assert actor.snapshot_timer is not None
    actors.drop([0])
    assert actor.gone
    assert actor.timer is None
    assert actor.snapshot_timer is None
    assert actors._residents.actors() == 0
    assert 0 not in actors._rewrites
