"""The sender on a real broker: a crowd on one partition, batches against a small topic limit, a broker that refuses."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from services.runtime.log import NewRecord


async def test_two_thousand_concurrent_emitters_of_one_partition_are_all_served_in_order(
    cluster: Any, note: Callable[..., NewRecord]
) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)

    async def emitter(number: int) -> list[int]:
        return [(await sender.send(note("1", number * 3 + turn, size=300, partition=0))).offset for turn in range(3)]

    async with asyncio.timeout(20):
        offsets = await asyncio.gather(*(emitter(number) for number in range(2_000)))
    assert sorted(offset for own in offsets for offset in own) == list(range(6_000))
    assert all(own == sorted(own) for own in offsets)


async def test_a_backlog_larger_than_the_topics_limit_goes_out_in_batches_that_fit(
    cluster: Any, note: Callable[..., NewRecord]
) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    async with asyncio.timeout(20):
        appended = await asyncio.gather(
            *(sender.send(note("1", number, topic="deliveries", size=1_000)) for number in range(1_000))
        )
    assert [a.offset for a in appended] == list(range(1_000))


async def test_a_partition_goes_on_after_the_broker_has_refused_an_append(
    cluster: Any, note: Callable[..., NewRecord]
) -> None:
    if cluster.settings.broker == "embedded":
        pytest.skip("the embedded broker holds no topic to a record limit")
    log = await cluster.connect()
    for turn in range(2):
        with pytest.raises(Exception, match="MessageSizeTooLarge"):
            await (await log.send(note("1", 0, topic="deliveries", size=200_000), 0))
        for number in range(2):
            appended = await (await log.send(note("1", number, topic="deliveries"), 0))
            assert appended.offset == turn * 2 + number
