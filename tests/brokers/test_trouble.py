"""A disk that can be filled, and a cluster of two whose leaders refuse what only one of them has."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from services.sandbox.brokers.errors import BrokerUnavailable
from services.sandbox.brokers.follower import BOTH_MUST_HAVE_IT, start_follower
from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.brokers.small_disk import SmallDisk, small_disk

Factory = Callable[..., Awaitable[JvmKafka]]


@pytest.fixture
async def disk(tmp_path: Path):
    try:
        async with small_disk(tmp_path / "disk", mib=4) as mounted:
            yield mounted
    except BrokerUnavailable as error:
        pytest.skip(f"a file system of its own needs root: {error.reason}")


async def test_a_full_disk_takes_nothing_until_space_is_made(disk: SmallDisk, tmp_path: Path) -> None:
    record = disk.at / "record"
    await disk.fill()
    with pytest.raises(OSError, match="No space left"):
        record.write_bytes(b"x" * 4096)
    disk.free()
    record.write_bytes(b"x" * 4096)
    assert os.path.ismount(disk.at)


async def test_a_small_disk_is_gone_afterwards(tmp_path: Path, disk: SmallDisk) -> None:
    other = tmp_path / "other"
    async with small_disk(other, mib=1):
        assert os.path.ismount(other)
    assert not os.path.ismount(other)


async def test_a_leader_alone_refuses_what_both_must_have_until_the_other_is_back(
    jvm_kafka_factory: Factory, tmp_path: Path
) -> None:
    first = await jvm_kafka_factory(properties=BOTH_MUST_HAVE_IT)
    follower = await start_follower(first, tmp_path / "follower", properties=BOTH_MUST_HAVE_IT)
    try:
        admin = AIOKafkaAdminClient(bootstrap_servers=first.bootstrap)
        await admin.start()
        answer = await admin.create_topics([NewTopic("events", 1, 2)])
        await admin.close()
        assert [error for _, error, *_ in answer.topic_errors] == [0]
        async with AIOKafkaProducer(
            bootstrap_servers=first.bootstrap, acks="all", request_timeout_ms=5_000, retry_backoff_ms=100
        ) as producer:
            await producer.send_and_wait("events", b"both have it")
            await follower.kill()
            with pytest.raises(KafkaError):
                await producer.send_and_wait("events", b"only one has it")
            await follower.restart()
            async with asyncio.timeout(60):
                await _taken(producer)
    finally:
        await follower.kill()


async def _taken(producer: AIOKafkaProducer) -> None:
    while True:
        try:
            await producer.send_and_wait("events", b"both have it again")
        except KafkaError:
            continue
        return
