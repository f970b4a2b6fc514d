"""The simulated cluster: partitions, appends, compaction, and a broker that may be away.

It keeps Kafka's promises and no more: order within a partition, an acknowledged record is kept, a repeated append stands
twice, an acknowledgement may be lost after the record was appended.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from random import Random
from typing import Any

from schemas.topics import COMPACTION_LAG_MS, Topics
from services.runtime.log import Appended, LogRecord, NewRecord
from services.sandbox.simulation.hosts import CURRENT
from services.sandbox.simulation.loop import VirtualLoop

EPOCH_MS = 1_780_000_000_000


class AppendFailed(Exception):
    """The client's word for an append whose acknowledgement did not come."""


@dataclass(slots=True)
class Partition:
    """One partition's records. After a compaction offsets have gaps."""

    records: list[LogRecord] = field(default_factory=list[LogRecord])
    end: int = 0


def outside() -> Context:
    """A context of no host: what runs in it outlives the host that began it."""
    context = copy_context()
    context.run(CURRENT.set, None)
    return context


class Cluster:
    """All topics. Latencies are drawn from `dice`; `history` holds every append with its virtual time, uncompacted."""

    def __init__(self, loop: VirtualLoop, topics: Topics, partitions: int, dice: Random) -> None:
        self.loop = loop
        self.topics = topics
        self.dice = dice
        self._count = partitions
        self._partitions: dict[tuple[str, int], Partition] = {
            (name, number): Partition()
            for name, spec in topics.topics.items()
            for number in range(partitions if spec.partitions == "shared" else 1)
        }
        self._grown: dict[str, asyncio.Future[None]] = {}
        self._away_until = 0.0
        self.history: list[tuple[float, LogRecord]] = []
        self.watchers: list[Callable[[LogRecord], None]] = []
        self._outside = outside()

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has."""
        return self._count if self.topics.topics[topic].partitions == "shared" else 1

    def now_ms(self) -> int:
        """The brokers' wall clock."""
        return EPOCH_MS + int(self.loop.time() * 1000)

    # -- availability ----------------------------------------------------------------------------------------------

    def go_away(self, seconds: float) -> None:
        """Answer nobody for a while."""
        self._away_until = max(self._away_until, self.loop.time() + seconds)

    def back_in(self) -> float:
        """Seconds until the cluster answers again; 0 when it does."""
        return max(0.0, self._away_until - self.loop.time())

    def later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> None:
        """Call something as the world, whatever becomes of the host that asks."""
        self.loop.call_later(seconds, call, *arguments, context=self._outside)

    # -- records ---------------------------------------------------------------------------------------------------

    def append(self, new: NewRecord, number: int, writer_ms: int) -> Appended:
        """Append at once."""
        partition = self._partitions[new.topic, number]
        log_append = self.topics.topics[new.topic].timestamps == "log-append"
        record = LogRecord(
            topic=new.topic,
            partition=number,
            offset=partition.end,
            timestamp_ms=self.now_ms() if log_append else writer_ms,
            key=new.key,
            value=new.value,
            headers=new.headers,
        )
        partition.records.append(record)
        partition.end += 1
        self.history.append((self.loop.time(), record))
        for watcher in self.watchers:
            watcher(record)
        grown = self._grown.pop(new.topic, None)
        if grown is not None:
            self._outside.copy().run(_resolve, grown)
        return Appended(partition=number, offset=record.offset)

    def read(self, topic: str, number: int, offset: int, most: int) -> list[LogRecord]:
        """Records from `offset` on."""
        partition = self._partitions[topic, number]
        if offset >= partition.end:
            return []
        records = partition.records
        start = _first_at(records, offset)
        return records[start : start + most]

    def end(self, topic: str, number: int) -> int:
        """The offset that the next record gets."""
        return self._partitions[topic, number].end

    def first_since(self, topic: str, number: int, since_ms: int) -> int:
        """The offset of the first record whose timestamp is `since_ms` or later, else the end."""
        for record in self._partitions[topic, number].records:
            if record.timestamp_ms >= since_ms:
                return record.offset
        return self._partitions[topic, number].end

    def grown(self, topic: str) -> "asyncio.Future[None]":
        """A future that resolves with the next append to the topic. Shared: never cancel it, wait beside it."""
        future = self._grown.get(topic)
        if future is None:
            future = self._grown[topic] = self.loop.create_future()
        return future

    def compact(self, topic: str) -> None:
        """Keep the last record of each key, and all that are younger than the compaction lag; offsets stay."""
        before_ms = self.now_ms() - COMPACTION_LAG_MS
        for (name, _), partition in self._partitions.items():
            if name == topic:
                last = {record.key: record.offset for record in partition.records}
                partition.records = [
                    r for r in partition.records if last[r.key] == r.offset or r.timestamp_ms >= before_ms
                ]


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _first_at(records: list[LogRecord], offset: int) -> int:
    low, high = 0, len(records)
    while low < high:
        middle = (low + high) // 2
        if records[middle].offset < offset:
            low = middle + 1
        else:
            high = middle
    return low
