"""The feed's rules that a real group cannot be made to show on demand: rebalances, defects and stops at awkward moments."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

import pytest

from schemas.headers import Facts
from schemas.topics import load_topics
from services.runtime.errors import Unavailable
from services.runtime.feed import Feed
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, Members, NewRecord
from services.runtime.sender import Sender

TOPICS = load_topics()


class ScriptedGroup:
    """A group of which the test is the coordinator."""

    def __init__(self) -> None:
        self.batches: asyncio.Queue[list[LogRecord]] = asyncio.Queue()
        self.fetching = asyncio.Event()
        self.paused: set[int] = set()
        self.commits: list[dict[int, int]] = []
        self.commit_hangs = False
        self.stopped = False

    async def start(self, members: Members) -> None:
        self.members = members

    async def fetch(self, max_records: int) -> list[LogRecord]:
        self.fetching.set()
        return await self.batches.get()

    async def commit(self, offsets: Mapping[int, int]) -> bool:
        if self.commit_hangs:
            await asyncio.Event().wait()
        self.commits.append(dict(offsets))
        return True

    def pause(self, partition: int) -> None:
        self.paused.add(partition)

    def resume(self, partition: int) -> None:
        self.paused.discard(partition)

    async def stop(self, *, leave: bool) -> None:
        self.stopped = True


class Bench:
    def __init__(self, log: Any, handler: Any, note: Callable[..., NewRecord]) -> None:
        self.log = log
        self.note = note
        self.handler = handler
        self.group = ScriptedGroup()
        self.sender = Sender(log, TOPICS)
        self.offsets: dict[int, int] = {}
        self.feed = Feed(
            service="notebook", topic="inbox", log_port=log, reader=self.group, sender=self.sender, handler=handler,
            topics=TOPICS, max_unprocessed=4,
        )  # fmt: skip
        self.task = asyncio.create_task(self.feed.run())

    async def assign(self, partitions: Collection[int], kept: Collection[int] = ()) -> Mapping[int, int]:
        await self.group.fetching.wait()
        self.feed.revoked(list(self.feed._owned))
        return self.feed.assigned(partitions, kept)

    def record(self, channel: str, number: int, partition: int, **changes: Any) -> LogRecord:
        new = self.note(channel, number)
        offset = self.offsets.get(partition, 0)
        self.offsets[partition] = offset + 1
        values = {"key": new.key, "value": new.value, "headers": new.headers} | changes
        return LogRecord("inbox", partition, offset, 0, **values)

    def deliver(self, *records: LogRecord) -> None:
        self.group.batches.put_nowait(list(records))

    async def end(self) -> None:
        self.task.cancel()
        for task in self.feed._background:
            task.cancel()
        for partition in (*self.feed._owned.values(), *self.feed._suspended.values(), *self.feed._lost):
            partition.mailboxes.drop()
            partition.mailboxes.cancel()
        await asyncio.wait({self.task})
        await self.sender.close(within_s=0)


@pytest.fixture
def handler(notebook: Any) -> Any:
    return notebook()


@pytest.fixture
async def bench(flaky: Any, handler: Any, note: Callable[..., NewRecord]):
    bench = Bench(flaky, handler, note)
    yield bench
    await bench.end()


async def recovered(bench: Bench) -> None:
    await bench.handler.until(lambda: all(not p.recovering for p in bench.feed._owned.values()))


async def test_a_partition_is_read_only_after_its_recovery(bench: Bench, channels_of: Any) -> None:
    gate = asyncio.Event()

    async def recover(partitions: Collection[int]) -> None:
        await gate.wait()
        bench.handler.recovered += partitions
        bench.handler.changes.note()

    bench.handler.recover = recover
    bench.group.paused = {0}
    assert await bench.assign([0]) == {}
    assert bench.group.paused == {0}
    gate.set()
    await bench.handler.until(lambda: bench.handler.recovered == [0])
    await recovered(bench)
    assert bench.group.paused == set()


async def test_a_recovery_that_fails_is_repeated(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.runtime.feed.RETRY_FIRST_S", 0.0)
    tries: list[object] = []

    async def recover(partitions: Collection[int]) -> None:
        tries.append(partitions)
        bench.handler.changes.note()
        if len(tries) < 3:
            raise ConnectionError("away")

    bench.handler.recover = recover
    await bench.assign([0])
    await bench.handler.until(lambda: len(tries) == 3)


async def test_a_recovery_that_a_rebalance_overtakes_does_not_come_to_its_end(bench: Bench) -> None:
    """Or it would replace what its successor has loaded, and the records since then, by an older state."""
    gates: list[asyncio.Event] = []
    ended: list[int] = []

    async def recover(partitions: Collection[int]) -> None:
        gates.append(asyncio.Event())
        number = len(gates)
        bench.handler.changes.note()
        await gates[number - 1].wait()
        ended.append(number)
        bench.handler.changes.note()

    bench.handler.recover = recover
    await bench.assign([0])
    await bench.handler.until(lambda: len(gates) == 1)
    await bench.assign([0], kept=[0])
    await bench.handler.until(lambda: len(gates) == 2)
    gates[1].set()
    await bench.handler.until(lambda: ended == [2])
    gates[0].set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert ended == [2]
    assert bench.handler.dropped_partitions == [0]


async def test_two_revocations_before_an_assignment_lose_no_partition(bench: Bench, channels_of: Any) -> None:
    await bench.assign([0, 1])
    await recovered(bench)
    bench.deliver(bench.record(channels_of(0, 1)[0], 1, 0))
    await bench.handler.until(lambda: bench.handler.handled)
    bench.feed.revoked([0, 1])
    bench.feed.revoked([])
    assert bench.feed.assigned([0], kept=[0]) == {0: 1}
    assert bench.handler.dropped_partitions == [1]


async def test_records_of_a_partition_that_went_elsewhere_are_dropped(bench: Bench, channels_of: Any) -> None:
    await bench.assign([0, 1])
    await recovered(bench)
    await bench.assign([0], kept=[0])
    bench.deliver(bench.record(channels_of(1, 1)[0], 1, 1), bench.record(channels_of(0, 1)[0], 2, 0))
    await bench.handler.until(lambda: bench.handler.handled)
    assert [number for _, number in bench.handler.handled] == [2]


async def test_what_waits_in_a_lost_partition_is_not_begun(bench: Bench, channels_of: Any) -> None:
    gate = asyncio.Event()

    async def hang(_: Inbound) -> None:
        await gate.wait()

    bench.handler.behaviour = hang
    channel = channels_of(0, 1)[0]
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channel, 1, 0), bench.record(channel, 2, 0))
    await bench.handler.until(lambda: bench.handler.begun)
    await bench.assign([1])
    [lost] = bench.feed._lost
    gate.set()
    await lost.mailboxes.idle()
    await bench.assign([1, 2], kept=[1])
    assert bench.handler.begun == [(channel, 1)]
    assert bench.feed._lost == []


async def test_a_record_in_hand_of_a_lost_partition_may_end_within_the_grace_period(
    bench: Bench, channels_of: Any
) -> None:
    gate = asyncio.Event()

    async def hang(_: Inbound) -> None:
        await gate.wait()

    bench.handler.behaviour = hang
    channel = channels_of(0, 1)[0]
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channel, 1, 0))
    await bench.handler.until(lambda: bench.handler.begun)
    await bench.assign([1])
    stopping = asyncio.create_task(bench.feed.stop(finish_s=20, leave=True))
    done, _ = await asyncio.wait({stopping}, timeout=0.05)
    assert not done
    gate.set()
    await stopping
    assert bench.handler.handled == [(channel, 1)]


async def test_what_is_fetched_after_the_stop_is_not_begun(bench: Bench, channels_of: Any) -> None:
    await bench.assign([0])
    await recovered(bench)
    stopping = asyncio.create_task(bench.feed.stop(finish_s=0.1, leave=True))
    await asyncio.sleep(0)
    bench.deliver(bench.record(channels_of(0, 1)[0], 1, 0))
    await stopping
    await bench.task
    assert bench.handler.begun == []


async def test_a_stop_ends_although_handler_and_commit_hang(
    bench: Bench, channels_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.feed.COMMIT_AT_STOP_S", 0.1)
    cancelled: list[bool] = []
    first, second = channels_of(0, 2)

    async def hang(inbound: Inbound) -> None:
        if inbound.facts.channel == second:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(True)

    bench.handler.behaviour = hang
    bench.group.commit_hangs = True
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(first, 1, 0), bench.record(second, 2, 0))
    await bench.handler.until(lambda: len(bench.handler.begun) == 2)
    async with asyncio.timeout(5):
        await bench.feed.stop(finish_s=0.1, leave=True)
    assert cancelled == [True]
    assert bench.group.stopped


async def test_a_defect_in_refusing_neither_ends_the_feed_nor_stops_the_channel(bench: Bench, channels_of: Any) -> None:
    def refuse(record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        raise ValueError("what the turn's end is made from is as bad as the record")

    async def fail(inbound: Inbound) -> None:
        if inbound.record.value == b"1":
            raise RuntimeError("boom")

    bench.handler.refuse = refuse
    bench.handler.behaviour = fail
    channel = channels_of(0, 1)[0]
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(
        bench.record(channel, 0, 0, headers=()),
        bench.record(channel, 1, 0),
        bench.record(channel, 2, 0),
    )
    await bench.handler.until(lambda: bench.handler.handled == [(channel, 2)])
    await bench.sender.flush()
    await bench.feed.commit()
    assert [record.topic for record in bench.log.appended] == ["dead-letters"] * 2
    assert bench.group.commits[-1] == {0: 3}


async def test_a_defect_at_a_records_arrival_costs_only_its_overtaking(bench: Bench, channels_of: Any) -> None:
    def arrived(inbound: Inbound) -> bool:
        raise RuntimeError("boom")

    bench.handler.arrived = arrived
    channel = channels_of(0, 1)[0]
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channel, 1, 0))
    await bench.handler.until(lambda: bench.handler.handled == [(channel, 1)])


async def test_what_is_done_at_its_arrival_waits_behind_no_other_and_pauses_nothing(
    bench: Bench, channels_of: Any
) -> None:
    gate = asyncio.Event()

    async def hang(_: Inbound) -> None:
        await gate.wait()

    bench.handler.behaviour = hang
    stuck, other = channels_of(0, 2)
    await bench.assign([0])
    await recovered(bench)
    bench.handler.overtaking = {(stuck, number) for number in range(1, 50)}
    bench.deliver(*(bench.record(stuck, number, 0) for number in range(50)), bench.record(other, 0, 0))
    await bench.handler.until(lambda: bench.handler.begun == [(stuck, 0), (other, 0)])
    assert bench.group.paused == set()
    gate.set()
    await bench.handler.until(lambda: bench.handler.handled == [(stuck, 0), (other, 0)])
    await bench.feed.commit()
    assert bench.group.commits[-1] == {0: 51}


async def test_a_defect_in_dropping_does_not_spoil_the_assignment(bench: Bench, channels_of: Any) -> None:
    def dropped(partitions: Collection[int]) -> None:
        raise RuntimeError("boom")

    bench.handler.dropped = dropped
    await bench.assign([0])
    await recovered(bench)
    await bench.assign([1])
    await recovered(bench)
    channel = channels_of(1, 1)[0]
    bench.deliver(bench.record(channel, 1, 1))
    await bench.handler.until(lambda: bench.handler.handled == [(channel, 1)])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"headers": ()}, "header_missing"),
        ({"key": None}, "wrong_partition"),
        ({"key": b"k" * 100_000}, "wrong_partition"),
        ({"key": b"another channel"}, "wrong_partition"),
        ({"headers": (("type", b"Note"), ("version", b"1"), ("id", b"\xff"), ("channel", b"1"))}, "header_invalid"),
        ({"headers": (("nothing", None),)}, "header_missing"),
        ({"headers": (("long", b"x" * 200_000),)}, "header_missing"),
    ],
    ids=[
        "no headers",
        "no key",
        "a giant key",
        "another channel's key",
        "headers that are no text",
        "an empty header",
        "giant headers",
    ],
)
async def test_a_hostile_record_is_dead_lettered_and_finished(
    bench: Bench, channels_of: Any, changes: dict[str, Any], reason: str
) -> None:
    channel = channels_of(3, 1)[0]
    await bench.assign([3])
    await recovered(bench)
    bench.deliver(bench.record(channels_of(3, 1)[0], 1, 3, **changes), bench.record(channel, 2, 3))
    await bench.handler.until(lambda: bench.handler.handled == [(channel, 2)])
    await bench.sender.flush()
    await bench.feed.commit()
    [letter] = bench.log.appended
    facts = dict(letter.headers)
    assert facts["dead-letter-reason"] == reason.encode()
    assert facts["dead-letter-offset"] == b"0"
    assert letter.value == b"1"
    assert bench.group.commits[-1] == {3: 2}


async def test_a_commit_that_the_group_did_not_take_is_repeated(bench: Bench, channels_of: Any) -> None:
    taken = iter([False, True])

    async def commit(offsets: Mapping[int, int]) -> bool:
        bench.group.commits.append(dict(offsets))
        return next(taken)

    bench.group.commit = commit  # type: ignore[method-assign]
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channels_of(0, 1)[0], 1, 0))
    await bench.handler.until(lambda: bench.handler.handled)
    for _ in range(3):
        await bench.feed.commit()
    assert bench.group.commits == [{0: 1}, {0: 1}]


async def test_a_wait_for_a_dependency_ends_when_its_partition_goes(bench: Bench, channels_of: Any) -> None:
    async def away(_: Inbound) -> None:
        raise Unavailable("Discord", "asked for an hour", retry_after_s=3_600)

    bench.handler.behaviour = away
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channels_of(0, 1)[0], 1, 0))
    await bench.handler.until(lambda: bench.handler.begun)
    mailboxes = bench.feed._owned[0].mailboxes
    await bench.assign([1])
    async with asyncio.timeout(5):
        await mailboxes.idle()
    assert len(bench.handler.begun) == 1


async def test_a_backlog_never_keeps_the_loop_from_its_heartbeats(
    bench: Bench, channels_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.loop_step.LONG_S", 0.0)  # as if every record took long
    [channel] = channels_of(0, 1)
    handled: list[int] = []
    at_heartbeat: list[int] = []

    async def handle(inbound: Inbound) -> None:
        handled.append(inbound.record.offset)
        bench.handler.changes.note()

    async def send_heartbeats() -> None:
        while True:
            at_heartbeat.append(len(handled))
            await asyncio.sleep(0)

    bench.handler.handle = handle
    await bench.assign([0])
    await recovered(bench)
    heartbeats = asyncio.create_task(send_heartbeats())
    bench.deliver(*(bench.record(channel, number, 0) for number in range(50)))
    await bench.handler.until(lambda: len(handled) == 50)
    heartbeats.cancel()
    between = {after - before for before, after in pairwise(at_heartbeat)}
    assert max(between) <= 2


async def test_a_process_serves_once_its_first_partitions_are_recovered(bench: Bench) -> None:
    gate = asyncio.Event()

    async def recover(partitions: Collection[int]) -> None:
        await gate.wait()

    bench.handler.recover = recover
    await bench.assign([0])
    await asyncio.sleep(0)
    assert not bench.feed.served_once.is_set()
    gate.set()
    await bench.feed.served_once.wait()


async def test_a_process_that_no_partition_is_left_for_serves_too(bench: Bench) -> None:
    await bench.assign([])
    assert bench.feed.served_once.is_set()


async def test_what_waits_for_a_dependency_is_left_to_the_successor_once_the_group_was_left(
    bench: Bench, channels_of: Any
) -> None:
    async def away(_: Inbound) -> None:
        raise Unavailable("discord", "away", retry_after_s=0.001)

    bench.handler.behaviour = away
    await bench.assign([0])
    await recovered(bench)
    bench.deliver(bench.record(channels_of(0, 1)[0], 1, 0))
    await bench.handler.until(lambda: bench.handler.begun)
    async with asyncio.timeout(10):
        await bench.feed.stop(finish_s=3_600, leave=True)
    assert bench.group.stopped
    assert bench.handler.handled == []
