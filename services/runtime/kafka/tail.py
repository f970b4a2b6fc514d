"""Readers of whole topics, without a group: one that follows a topic for ever, and one that reads up to its end."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import partial
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from services.runtime.errors import Unavailable
from services.runtime.kafka.connection import BrokerProfile, when_reachable
from services.runtime.log import LogRecord
from services.runtime.logs import get_logger

log = get_logger("kafka.tail")
STOP_BOUND_S = 5.0
FRESH_S = 2.0
"""How old the last answer of the broker may be for our reads to count as being at the end."""


def _consumer(options: Mapping[str, Any], profile: BrokerProfile) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        **options,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=profile.fetch_wait_ms,
        max_partition_fetch_bytes=9 * 1024 * 1024,
    )


async def _stop(consumer: AIOKafkaConsumer) -> None:
    """End a consumer within a few seconds, whatever the broker does."""
    with contextlib.suppress(KafkaError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(STOP_BOUND_S):
            await consumer.stop()


async def _range(
    consumer: AIOKafkaConsumer, places: list[TopicPartition], since_ms: int, *, exact_times: bool
) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int]]:
    """The partitions' ends, and where to begin so that nothing from `since_ms` on is left out."""
    ends = await consumer.end_offsets(places)
    if since_ms <= 0 or not exact_times:
        return ends, await consumer.beginning_offsets(places)
    found = await consumer.offsets_for_times(dict.fromkeys(places, since_ms))
    starts: dict[TopicPartition, int] = {}
    for tp in places:
        at = found.get(tp)
        starts[tp] = ends[tp] if at is None else at.offset
    return ends, starts


class KafkaTail:
    """Follows all partitions of a topic from a point in time on."""

    def __init__(
        self,
        options: Mapping[str, Any],
        profile: BrokerProfile,
        *,
        logical: str,
        topic: str,
        partitions: int,
        since_ms: int,
        on_record: Callable[[LogRecord], None],
    ) -> None:
        self._profile = profile
        self._logical = logical
        self._partitions = [TopicPartition(topic, p) for p in range(partitions)]
        self._since_ms = since_ms
        self._on_record = on_record
        self._consumer = _consumer(options, profile)
        self._positions: dict[int, int] = {}
        self._goals: dict[int, int] = {}
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Find the starting offsets and begin to read in the background."""
        await when_reachable(self._consumer.start)
        self._consumer.assign(self._partitions)
        ends, starts = await when_reachable(
            partial(_range, self._consumer, self._partitions, self._since_ms, exact_times=self._profile.exact_times)
        )
        for tp in self._partitions:
            self._consumer.seek(tp, starts[tp])
            self._positions[tp.partition] = starts[tp]
            self._goals[tp.partition] = ends[tp]
        self._check_caught_up()
        self._task = asyncio.create_task(self._run(), name=f"tail {self._logical}")

    async def _run(self) -> None:
        while True:
            try:
                batches = await self._consumer.getmany(timeout_ms=500)
            except KafkaError as error:
                log.warning("tail read failed", topic=self._logical, error=type(error).__name__, often=True)
                await asyncio.sleep(0.5)
                continue
            for tp, messages in batches.items():
                for m in messages:
                    record = LogRecord(
                        self._logical, m.partition, m.offset, m.timestamp, m.key, m.value, tuple(m.headers)
                    )
                    try:
                        self._on_record(record)
                    except Exception:
                        log.exception("defect at a record", topic=self._logical, partition=m.partition, offset=m.offset)
                if messages:
                    self._positions[tp.partition] = messages[-1].offset + 1
            if batches:
                self._wake()
            self._check_caught_up()

    def _wake(self) -> None:
        still: list[tuple[int, int, asyncio.Future[None]]] = []
        for partition, offset, future in self._waiting:
            if future.done():
                continue
            if self._positions[partition] > offset:
                future.set_result(None)
            else:
                still.append((partition, offset, future))
        self._waiting = still

    def _check_caught_up(self) -> None:
        if not self._caught_up.is_set() and all(self._positions[p] >= goal for p, goal in self._goals.items()):
            self._caught_up.set()

    async def caught_up(self) -> None:
        """Wait until everything that was in the topic at `start` has been read."""
        await self._caught_up.wait()

    async def reached(self, partition: int, offset: int) -> None:
        """Wait until the record at `offset` has been read."""
        if self._positions[partition] > offset:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((partition, offset, future))
        await future

    def at_end(self, partition: int) -> bool:
        """Whether the last fetch of the partition came to its end, and is not older than FRESH_S."""
        highwater = self._consumer.highwater(self._partitions[partition])
        answered_ms = self._consumer.last_poll_timestamp(self._partitions[partition])
        return (
            highwater is not None
            and answered_ms is not None
            and self._positions[partition] >= highwater
            and time.time() - answered_ms / 1000 <= FRESH_S
        )

    async def stop(self) -> None:
        """End reading within a few seconds."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await _stop(self._consumer)


async def read_to_end(
    options: Mapping[str, Any], profile: BrokerProfile, *, logical: str, topic: str, partitions: Collection[int],
    since_ms: int, first: Mapping[int, int],
) -> AsyncIterator[LogRecord]:  # fmt: skip
    """All records of the partitions from a time, or the offset in `first`, up to their end as it is now.

    Raises Unavailable without a broker.
    """
    consumer = _consumer(options, profile)
    try:
        await consumer.start()
        wanted = [TopicPartition(topic, p) for p in partitions]
        consumer.assign(wanted)
        ends, oldest = await _range(consumer, wanted, since_ms, exact_times=profile.exact_times)
        begins = {tp: max(oldest[tp], first.get(tp.partition, 0)) for tp in wanted}
        open_partitions = {tp for tp in wanted if begins[tp] < ends[tp]}
        for tp in wanted:
            if tp in open_partitions:
                consumer.seek(tp, begins[tp])
            else:
                consumer.pause(tp)
        while open_partitions:
            batches = await consumer.getmany(timeout_ms=500)
            for messages in batches.values():
                for m in messages:
                    yield LogRecord(logical, m.partition, m.offset, m.timestamp, m.key, m.value, tuple(m.headers))
            for tp in list(open_partitions):
                # Compaction and aborted batches leave offsets without a record, so the position counts, not the record.
                if await consumer.position(tp) >= ends[tp]:
                    open_partitions.discard(tp)
                    consumer.pause(tp)
    except KafkaError as error:
        raise Unavailable("Kafka", f"{topic} cannot be read ({type(error).__name__})") from error
    finally:
        await _stop(consumer)


async def partition_ends(
    options: Mapping[str, Any], profile: BrokerProfile, *, topic: str, partitions: Collection[int]
) -> dict[int, int]:
    """The offset of each partition's next record; nothing on a broker that tells too low an end."""
    if not profile.exact_times:
        return {}
    consumer = _consumer(options, profile)
    try:
        await consumer.start()
        ends = await consumer.end_offsets([TopicPartition(topic, p) for p in partitions])
        return {tp.partition: end for tp, end in ends.items()}
    finally:
        await _stop(consumer)
