"""Readers of whole topics: a tail that follows, and a read up to the end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from services.runtime.clock import SystemClock
from services.runtime.log import LogRecord, NewRecord


async def test_a_tail_reads_what_is_there_and_then_what_comes(cluster: Any, note: Callable[..., NewRecord]) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    before = [await sender.send(note("1", number)) for number in range(20)]
    read: list[LogRecord] = []
    tail = log.tail("inbox", since_ms=0, on_record=read.append)
    await tail.start()
    await tail.caught_up()
    assert [record.value for record in read] == [b"%d" % number for number in range(20)]
    assert [record.offset for record in read] == [appended.offset for appended in before]
    assert read[0].topic == "inbox"
    after = await sender.send(note("1", 20))
    await tail.reached(after.partition, after.offset)
    assert read[-1].value == b"20"
    assert tail.at_end(after.partition)
    await tail.reached(after.partition, before[3].offset)
    await tail.stop()


async def test_a_tail_of_an_empty_topic_has_caught_up_at_once(cluster: Any) -> None:
    log = await cluster.connect()
    tail = log.tail("control", since_ms=0, on_record=pytest.fail)
    await tail.start()
    async with asyncio.timeout(5):
        await tail.caught_up()
    await tail.stop()


async def test_a_tail_starts_at_the_time_that_it_is_given(cluster: Any, note: Callable[..., NewRecord]) -> None:
    if cluster.settings.broker == "embedded":
        pytest.skip("the embedded broker looks times up by batch, so its tails read everything")
    log = await cluster.connect()
    sender = await cluster.sender(log)
    read: list[LogRecord] = []
    await sender.send(note("1", 0))
    tail = log.tail("inbox", since_ms=SystemClock().now_ms() + 60_000, on_record=read.append)
    await tail.start()
    await tail.caught_up()
    appended = await sender.send(note("1", 1))
    await tail.reached(appended.partition, appended.offset)
    assert [record.value for record in read] == [b"1"]
    await tail.stop()


async def test_an_error_at_one_record_does_not_end_a_tail(cluster: Any, note: Callable[..., NewRecord]) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    read: list[bytes | None] = []

    def take(record: LogRecord) -> None:
        if record.value == b"1":
            raise RuntimeError("boom")
        read.append(record.value)

    tail = log.tail("inbox", since_ms=0, on_record=take)
    await tail.start()
    appended = [await sender.send(note("1", number)) for number in range(3)][-1]
    async with asyncio.timeout(10):
        await tail.reached(appended.partition, appended.offset)
    assert read == [b"0", b"2"]
    await tail.stop()


async def test_a_read_to_the_end_gives_every_record_of_the_asked_partitions_and_ends(
    cluster: Any, note: Callable[..., NewRecord], channels_of: Callable[..., list[str]]
) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    inside, outside = channels_of(1, 1)[0], channels_of(2, 1)[0]
    await asyncio.gather(
        *(sender.send(note(channel, number, size=500)) for number in range(500) for channel in (inside, outside))
    )
    read = [record async for record in log.read_to_end("inbox", [0, 1])]
    assert [record.value.rstrip(b".") for record in read] == [b"%d" % number for number in range(500)]
    assert {record.partition for record in read} == {1}


async def test_a_read_to_the_end_of_an_empty_topic_ends(cluster: Any) -> None:
    log = await cluster.connect()
    async with asyncio.timeout(5):
        assert [record async for record in log.read_to_end("channels", range(4))] == []


async def test_a_read_to_the_end_passes_over_what_compaction_and_deletion_took_away(
    cluster: Any, note: Callable[..., NewRecord]
) -> None:
    if cluster.settings.broker == "embedded":
        pytest.skip("the embedded broker neither compacts nor deletes")
    from aiokafka import TopicPartition
    from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete

    log = await cluster.connect()
    sender = await cluster.sender(log)
    appended = [await sender.send(note("1", number)) for number in range(10)]
    place = TopicPartition(f"{cluster.settings.prefix}inbox", appended[0].partition)
    admin = AIOKafkaAdminClient(bootstrap_servers=cluster.settings.kafka)
    await admin.start()
    try:
        await admin.delete_records({place: RecordsToDelete(before_offset=6)})
        assert [r.offset async for r in log.read_to_end("inbox", range(4))] == [6, 7, 8, 9]
        await admin.delete_records({place: RecordsToDelete(before_offset=10)})
        assert [r.offset async for r in log.read_to_end("inbox", range(4))] == []
    finally:
        await admin.close()
