"""The sender keeps a partition's order through failed appends, and drops nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.topics import load_topics
from services.runtime import sender as module
from services.runtime.errors import RecordTooLarge
from services.runtime.log import NewRecord
from services.runtime.sender import Sender

TOPICS = load_topics()


@pytest.fixture(autouse=True, scope="module")
def _no_backoff() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RETRY_FIRST_S", 0.0)
        patch.setattr(module, "RETRY_MOST_S", 0.0)
        yield


@pytest.fixture
async def sender(flaky: Any) -> AsyncIterator[Sender]:
    sender = Sender(flaky, TOPICS)
    yield sender
    await sender.close(within_s=0)


def firsts(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


@given(
    refused=st.sets(st.integers(0, 30), max_size=6),
    failed=st.sets(st.integers(0, 30), max_size=6),
    lost_acks=st.sets(st.integers(0, 30), max_size=6),
    count=st.integers(1, 12),
    idempotent=st.booleans(),
)
def test_whatever_fails_nothing_is_dropped_and_the_promised_copies_stand_in_order(
    new_flaky: Any, note: Any, refused: set[int], failed: set[int], lost_acks: set[int], count: int, idempotent: bool
) -> None:
    async def run() -> None:
        log = new_flaky()
        log.refused, log.failed, log.lost_acks, log.idempotent = refused, failed, lost_acks, idempotent
        sender = Sender(log, TOPICS)
        resolved: list[int] = []
        futures = [sender.send(note("1", number)) for number in range(count)]
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: resolved.append(number))
        offsets = [appended.offset for appended in await asyncio.gather(*futures)]
        await sender.flush()
        expected = [str(number) for number in range(count)]
        if idempotent:
            assert firsts(log.texts) == expected
        assert [log.texts[offset] for offset in offsets] == expected
        assert offsets == sorted(offsets)
        assert resolved == list(range(count))
        await sender.close(within_s=1)

    asyncio.run(run())


async def test_an_append_that_fails_is_repeated_with_everything_behind_it(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    flaky.manual = True
    flaky.idempotent = False
    flaky.failed = {1}
    futures = [sender.send(note("1", number)) for number in range(4)]
    await settle(lambda: flaky.sends == 4)
    flaky.acknowledge(4)
    await settle(lambda: flaky.sends == 7)
    assert flaky.texts == ["0", "2", "3"]
    assert [future.done() for future in futures] == [True, False, False, False]
    flaky.acknowledge(3)
    await asyncio.gather(*futures)
    assert flaky.texts == ["0", "2", "3", "1", "2", "3"]


async def test_a_failure_in_one_partition_does_not_hold_up_another(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], channels_of: Callable[..., list[str]]
) -> None:
    flaky.manual = True
    flaky.refused = {0}
    flaky.failed = set(range(2, 40, 2))
    first = sender.send(note(channels_of(0, 1)[0], 0))
    second = sender.send(note(channels_of(1, 1)[0], 1))
    await settle(lambda: flaky.sends >= 2)
    flaky.acknowledge(1)
    assert (await second).offset == 0
    assert not first.done()


async def test_a_flush_waits_for_a_record_that_is_just_being_handed_over(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    flaky.manual = True
    first = sender.send(note("1", 0))
    await settle(lambda: flaky.sends == 1)
    flaky.handover = asyncio.Event()
    second = sender.send(note("1", 1))
    await settle(lambda: flaky.sends == 2)
    flaky.acknowledge()
    await first
    flushed = asyncio.create_task(sender.flush())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not flushed.done()
    flaky.handover.set()
    flaky.manual = False
    await settle(lambda: flaky._owed)
    flaky.acknowledge()
    await second
    await flushed


async def test_a_value_over_its_topics_limit_is_refused_at_once(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    limit = TOPICS.topics["deliveries"].max_bytes
    await sender.send(note("1", 0, topic="deliveries", size=limit))
    with pytest.raises(RecordTooLarge, match="deliveries"):
        sender.send(note("1", 1, topic="deliveries", size=limit + 1))
    assert flaky.sends == 1


async def test_headers_that_the_broker_would_refuse_for_ever_are_refused_at_once(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    record = note("1", 0)
    with pytest.raises(RecordTooLarge, match="headers"):
        sender.send(NewRecord("inbox", record.key, b"", (*record.headers, ("long", b"x" * 70_000))))
    with pytest.raises(RecordTooLarge, match="key"):
        sender.send(NewRecord("inbox", b"k" * 70_000, b"", record.headers))
    assert flaky.sends == 0


async def test_closing_ends_in_time_although_nothing_is_acknowledged(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord]
) -> None:
    flaky.manual = True
    future = sender.send(note("1", 0))
    await settle(lambda: flaky.sends == 1)
    async with asyncio.timeout(5):
        await sender.close(within_s=0.01)
    assert not future.done()


async def test_a_partition_of_the_senders_own_choice_is_kept(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], channels_of: Callable[..., list[str]]
) -> None:
    await sender.send(note(channels_of(0, 1)[0], 0, partition=3))
    assert list(sender._lanes) == [("inbox", 3)]


async def test_a_record_after_a_quiet_moment_goes_out_at_once(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GATHER_S", 3600.0)
    await sender.send(note("1", 0))
    assert flaky.texts == ["0"]


async def test_what_comes_soon_after_goes_out_together_whatever_its_partition(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST_S", -1.0)
    monkeypatch.setattr(module, "GATHER_S", 0.05)
    flaky.manual = True
    sender.send(note("1", 0, partition=0))
    await settle(lambda: flaky.sends)
    sender.send(note("2", 1, partition=1))
    sender.send(note("3", 2, partition=2))
    steps: list[int] = []
    while flaky.sends < 3:
        await asyncio.sleep(0)
        steps.append(flaky.sends)
    assert set(steps) == {1, 3}


async def test_what_waits_to_go_out_does_not_overtake_what_fails_meanwhile(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST_S", -1.0)
    monkeypatch.setattr(module, "GATHER_S", 0.05)
    flaky.manual = True
    flaky.failed = {0}
    sender.send(note("1", 0))
    await settle(lambda: flaky.sends)
    second = sender.send(note("1", 1))
    await asyncio.sleep(0)
    flaky.acknowledge()
    flaky.manual = False
    flaky.idempotent = False
    await second
    assert flaky.texts == ["0", "1"]


async def settle(condition: Callable[[], object]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("never came true")


async def test_a_partition_of_which_nothing_is_acknowledged_for_long_counts_as_stalled(
    sender: Sender, flaky: Any, note: Callable[..., NewRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sender.stalled() is None
    flaky.manual = True
    future = sender.send(note("1", 0, partition=3))
    await settle(lambda: flaky.sends == 1)
    assert sender.stalled() is None  # not for long yet
    monkeypatch.setattr(module, "STALLED_S", 0.0)
    assert str(sender.stalled()).startswith("no write to inbox/3 is acknowledged for")
    flaky.acknowledge()
    await future
    assert sender.stalled() is None
