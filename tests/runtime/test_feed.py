"""Feeds of a real group: nothing skipped over rebalances and crashes, poison and backlogs stop nobody else."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from schemas.headers import HeaderReader
from services.runtime.errors import Poison, RecordTooLarge, Unavailable
from services.runtime.inbound import Inbound
from services.runtime.log import NewRecord

PARTITIONS = 4


@pytest.fixture
async def writer(cluster: Any) -> Any:
    return await cluster.sender(await cluster.connect())


def number_of(inbound: Inbound) -> int:
    return int((inbound.record.value or b"").rstrip(b"."))


async def test_every_record_is_handled_once_and_in_its_channels_order(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channels = [channel for partition in range(PARTITIONS) for channel in channels_of(partition, 5)]
    handler = notebook()
    await cluster.member(handler)
    await asyncio.gather(*(writer.send(note(channel, number)) for number in range(20) for channel in channels))
    await handler.until(lambda: len(handler.handled) == 400)
    for channel in channels:
        assert [number for name, number in handler.handled if name == channel] == list(range(20))
    assert len(handler.arrivals) == 400
    assert sorted(handler.arrivals) == sorted(handler.handled)
    assert sorted(handler.recovered) == list(range(PARTITIONS))


async def test_a_second_member_takes_some_partitions_and_the_first_keeps_the_state_of_the_rest(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channels = [channels_of(partition, 1)[0] for partition in range(PARTITIONS)]
    gate = asyncio.Event()

    async def hang_at_first(inbound: Inbound) -> None:
        if number_of(inbound) == 0:
            await gate.wait()

    first, second = notebook(hang_at_first), notebook()
    one = await cluster.member(first)
    await asyncio.gather(*(writer.send(note(channel, number)) for number in range(5) for channel in channels))
    # Each channel hangs at its first record, so that every partition has unfinished and waiting ones.
    await first.until(lambda: len(first.begun) == PARTITIONS)
    two = await cluster.member(second)
    await second.until(lambda: second.recovered)
    await first.until(lambda: len(one.feed._owned) + len(two.feed._owned) == PARTITIONS)
    kept, moved = set(one.feed._owned), set(two.feed._owned)
    assert kept
    assert moved
    assert kept.isdisjoint(moved)
    assert set(first.dropped_partitions) == moved
    assert sorted(second.recovered) == sorted(moved)
    await asyncio.gather(*(writer.send(note(channel, number)) for number in range(5, 10) for channel in channels))
    gate.set()
    await second.until(lambda: len(second.handled) == 10 * len(moved))
    # The kept partitions are handled where they began, each record once; of the moved ones only what was in hand ends.
    await first.until(lambda: len(first.handled) == 10 * len(kept) + len(moved))
    begun = Counter(first.begun)
    for partition, channel in enumerate(channels):
        expected = range(10) if partition in kept else range(1)
        assert [number for name, number in first.handled if name == channel] == list(expected)
        assert all(begun[channel, number] == 1 for number in expected)
        if partition in moved:
            assert [number for name, number in second.handled if name == channel] == list(range(10))


async def test_after_a_crash_exactly_what_was_not_in_the_finished_prefix_comes_again(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    per_partition = {partition: channels_of(partition, 6) for partition in range(PARTITIONS)}
    hanging = {partition: channels[partition] for partition, channels in per_partition.items()}

    async def hang(inbound: Inbound) -> None:
        if inbound.facts.channel in hanging.values():
            await asyncio.Event().wait()

    first = notebook(hang)
    one = await cluster.member(first)
    for partition in range(PARTITIONS):
        for number, channel in enumerate(per_partition[partition]):
            await writer.send(note(channel, number))
    await first.until(lambda: len(first.begun) == 24 and len(first.handled) == 20)
    await one.feed.commit()
    await one.crash()
    second = notebook()
    await cluster.member(second)
    expected = [
        (channel, number)
        for partition, channels in per_partition.items()
        for number, channel in enumerate(channels)
        if number >= partition
    ]
    await second.until(lambda: len(second.handled) >= len(expected))
    last = [await writer.send(note(channels[0], 99)) for channels in per_partition.values()]
    await second.until(lambda: len(second.handled) >= len(expected) + len(last))
    assert sorted(item for item in second.handled if item[1] != 99) == sorted(expected)


async def test_a_stop_commits_what_is_finished_and_gives_the_partitions_away_at_once(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channel = channels_of(0, 1)[0]
    first = notebook()
    one = await cluster.member(first, instance="reader-0", exclusive_instance=True)
    for number in range(5):
        await writer.send(note(channel, number))
    await first.until(lambda: len(first.handled) == 5)
    await one.stop()
    second = notebook()
    # Another slot: it would have to wait for the session's end if the static member had not left.
    async with asyncio.timeout(5):
        await cluster.member(second, instance="reader-1", exclusive_instance=True)
        await second.until(lambda: second.recovered)
    await writer.send(note(channel, 5))
    await second.until(lambda: second.handled)
    assert second.handled == [(channel, 5)]


async def test_a_process_that_is_started_again_in_its_slot_has_its_partitions_before_the_session_ends(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    if cluster.settings.broker == "embedded":
        pytest.skip("the embedded broker has no static members")
    first, other = notebook(), notebook()
    one = await cluster.member(first, instance="reader-0", exclusive_instance=True)
    two = await cluster.member(other, instance="reader-1", exclusive_instance=True)
    async with asyncio.timeout(30):
        # Both sides must have their part, and neither's notebook tells of the other's.
        while not (one.feed._owned and two.feed._owned and len(one.feed._owned) < PARTITIONS):
            await asyncio.sleep(0.01)
    held = set(one.feed._owned)
    dropped = list(other.dropped_partitions)
    await one.crash(leave=False)
    again = notebook()
    async with asyncio.timeout(4):
        await cluster.member(again, instance="reader-0", exclusive_instance=True)
        await again.until(lambda: again.recovered)
    assert set(again.recovered) == held
    assert other.dropped_partitions == dropped


async def test_poison_goes_to_the_dead_letters_once_and_its_channel_goes_on(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channel = channels_of(1, 1)[0]

    async def behave(inbound: Inbound) -> None:
        match number_of(inbound):
            case 1:
                raise Poison("never")
            case 2:
                raise RuntimeError("secret words of a user")
            case 3:
                inbound.emit(note(channel, 0, topic="deliveries", size=70_000))
            case _:
                return

    handler = notebook(behave)
    handler.refusals = [note(channel, 7, topic="turns")]
    member = await cluster.member(handler)
    letters, changes = await cluster.follow(member.log, "dead-letters")
    ends, end_changes = await cluster.follow(member.log, "turns")
    for number in range(5):
        await writer.send(note(channel, number))
    await handler.until(lambda: [n for _, n in handler.handled] == [0, 4])
    await changes.until(lambda: len(letters) == 3)
    await end_changes.until(lambda: len(ends) == 3)
    found = [HeaderReader(letter.headers) for letter in letters]
    assert [reader.need("dead-letter-reason") for reader in found] == ["poison", "defect", "too_large"]
    assert [reader.need("dead-letter-offset") for reader in found] == ["1", "2", "3"]
    assert [reader.need("original-type") for reader in found] == ["Note"] * 3
    assert [letter.value for letter in letters] == [b"1", b"2", b"3"]
    assert "secret" not in found[1].need("dead-letter-message")
    await member.sender.flush()
    await member.feed.commit()
    await member.crash()
    again = notebook()
    await cluster.member(again)
    await writer.send(note(channel, 5))
    await again.until(lambda: again.handled)
    assert again.handled == [(channel, 5)]
    assert len(letters) == 3


async def test_a_dependency_that_is_away_holds_up_only_its_channel_and_its_record_is_tried_again(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    waiting, quick = channels_of(2, 2)
    tries = 0
    back = False

    async def behave(inbound: Inbound) -> None:
        nonlocal tries
        if inbound.facts.channel == waiting and not back:
            tries += 1
            raise Unavailable("Discord", "away", retry_after_s=0.01)

    handler = notebook(behave)
    await cluster.member(handler)
    for number in range(3):
        await writer.send(note(waiting, number))
        await writer.send(note(quick, number))
    await handler.until(lambda: [n for name, n in handler.handled if name == quick] == [0, 1, 2])
    await handler.until(lambda: tries > 3)
    assert {item for item in handler.begun if item[0] == waiting} == {(waiting, 0)}
    back = True
    await handler.until(lambda: [n for name, n in handler.handled if name == waiting] == [0, 1, 2])


async def test_a_backlog_pauses_its_partition_alone_and_is_read_on_when_it_is_done(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    blocked, other = channels_of(0, 1)[0], channels_of(1, 1)[0]
    gate = asyncio.Event()

    async def behave(inbound: Inbound) -> None:
        if inbound.facts.channel == blocked:
            await gate.wait()

    handler = notebook(behave)
    member = await cluster.member(handler, max_unprocessed=4)
    for number in range(6):
        await writer.send(note(blocked, number))
    await handler.until(lambda: handler.begun)
    await handler.until(lambda: member.feed._owned[0].paused)
    unprocessed = member.feed._owned[0].unprocessed
    for number in range(6, 30):
        await writer.send(note(blocked, number))
    for number in range(30):
        await writer.send(note(other, number))
    await handler.until(lambda: [n for name, n in handler.handled if name == other] == list(range(30)))
    assert member.feed._owned[0].unprocessed == unprocessed
    gate.set()
    await handler.until(lambda: [n for name, n in handler.handled if name == blocked] == list(range(30)))
    assert not member.feed._owned[0].paused
    assert member.feed._owned[0].unprocessed == 0


async def test_a_record_is_committed_only_after_its_outputs_and_holds(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channel = channels_of(0, 1)[0]
    holds: list[Any] = []

    async def behave(inbound: Inbound) -> None:
        inbound.emit(note(channel, number_of(inbound), topic="turns"))
        if number_of(inbound) == 1:
            holds.append(inbound.hold())

    handler = notebook(behave)
    member = await cluster.member(handler)
    for number in range(4):
        await writer.send(note(channel, number))
    await handler.until(lambda: len(handler.handled) == 4)
    await member.sender.flush()
    acks = member.feed._owned[0].acks
    assert (acks.committable, acks.open) == (1, 3)
    holds[0].release()
    assert (acks.committable, acks.open) == (4, 0)


async def test_an_output_over_its_limit_is_the_handlers_to_see(
    cluster: Any, writer: Any, notebook: Any, note: Callable[..., NewRecord], channels_of: Any
) -> None:
    channel = channels_of(0, 1)[0]
    seen: list[str] = []

    async def behave(inbound: Inbound) -> None:
        with pytest.raises(RecordTooLarge) as error:
            inbound.emit(note(channel, 0, topic="deliveries", size=70_000))
        seen.append(error.value.reason)

    handler = notebook(behave)
    member = await cluster.member(handler)
    await writer.send(note(channel, 0))
    await handler.until(lambda: handler.handled)
    assert seen == ["too_large"]
    assert member.feed._owned[0].acks.committable in (None, 1)
