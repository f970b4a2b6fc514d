"""A record is finished once: after its handler, its outputs and its holds."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from schemas.headers import Facts
from schemas.topics import load_topics
from services.runtime.errors import RecordTooLarge
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import LogRecord, NewRecord
from services.runtime.sender import Sender

FACTS = Facts(type="Note", version=1, id="1", channel="1")
RECORD = LogRecord("inbox", 0, 0, 0, b"1", b"", ())


class Bench:
    def __init__(self, log: Any) -> None:
        self.finished = 0
        self.sender = Sender(log, load_topics())
        self.pending = Pending(self.note)
        self.inbound = Inbound(RECORD, FACTS, self.sender, self.pending)

    def note(self) -> None:
        self.finished += 1


@pytest.fixture
async def bench(flaky: Any):
    flaky.manual = True
    bench = Bench(flaky)
    yield bench
    for lane in bench.sender._lanes.values():
        lane.cancel()


async def test_a_record_without_outputs_is_finished_with_its_handler(bench: Bench) -> None:
    assert bench.finished == 0
    bench.pending.release()
    assert bench.finished == 1


async def test_a_record_waits_for_all_outputs_and_holds(
    bench: Bench, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    outputs = [bench.inbound.emit(note("1", number)) for number in range(2)]
    hold = bench.inbound.hold()
    bench.pending.release()
    await settle(lambda: flaky.sends == 2)
    flaky.acknowledge()
    await outputs[0]
    await asyncio.sleep(0)
    assert bench.finished == 0
    flaky.acknowledge()
    await outputs[1]
    await asyncio.sleep(0)
    assert bench.finished == 0
    hold.release()
    assert bench.finished == 1


async def test_what_comes_after_the_end_does_not_finish_a_record_again(bench: Bench) -> None:
    bench.pending.release()
    bench.inbound.hold().release()
    assert bench.finished == 1


async def test_an_output_that_was_given_up_leaves_its_record_unfinished(
    bench: Bench, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    bench.inbound.emit(note("1", 0)).cancel()
    bench.pending.release()
    await settle(lambda: flaky.sends == 1)
    flaky.acknowledge()
    await asyncio.sleep(0)
    assert bench.finished == 0


async def test_an_output_over_its_limit_is_refused_and_not_waited_for(
    bench: Bench, note: Callable[..., NewRecord]
) -> None:
    with pytest.raises(RecordTooLarge):
        bench.inbound.emit(note("1", 0, topic="deliveries", size=70_000))
    bench.pending.release()
    assert bench.finished == 1


async def settle(condition: Callable[[], object]) -> None:
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("never came true")
