"""The log port on a Kafka cluster: one producer a process, group readers and tails on demand."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas.topics import Topics
from services.runtime.errors import TopicMismatch, Unavailable
from services.runtime.kafka.connection import client_options, profile_of
from services.runtime.kafka.group import KafkaGroupReader
from services.runtime.kafka.tail import KafkaTail, read_to_end
from services.runtime.log import Appended, GroupReader, LogRecord, NewRecord, Tail
from services.runtime.settings import Settings

STOP_BOUND_S = 5.0


class KafkaLog:
    """A cluster as one process sees it. `start` raises Unavailable or TopicMismatch."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self._options = client_options(settings)
        self._profile = profile_of(settings)
        self._counts: dict[str, int] = {}
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect, and learn how many partitions each topic has."""
        producer = AIOKafkaProducer(
            **self._options,
            acks="all",
            enable_idempotence=self._profile.idempotent,
            linger_ms=self._profile.linger_ms,
            max_batch_size=256 * 1024,
            max_request_size=9 * 1024 * 1024,
        )
        try:
            async with asyncio.timeout(20):
                await producer.start()
                for name in self._topics.topics:
                    found = await producer.client._wait_on_metadata(self._name(name))
                    self._counts[name] = len(found)
        except (KafkaError, TimeoutError, OSError) as error:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await producer.stop()
            missing = [name for name in self._topics.topics if name not in self._counts]
            if self._counts or type(error).__name__ == "UnknownTopicOrPartitionError":
                raise TopicMismatch(
                    f"topic {self._name(missing[0])!r} does not exist on {self._settings.kafka}",
                    remedy="create the topics with `odradek topics create`",
                ) from error
            raise Unavailable(
                "Kafka", f"no broker answers at {self._settings.kafka} ({type(error).__name__})"
            ) from error
        self._producer = producer
        shared = {n: self._counts[n] for n, spec in self._topics.topics.items() if spec.partitions == "shared"}
        if len(set(shared.values())) != 1:
            raise TopicMismatch(
                f"the channel topics differ in their number of partitions: {shared}",
                remedy="run `odradek topics check` and make them equal",
            )

    def _name(self, topic: str) -> str:
        return f"{self._settings.prefix}{topic}"

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has on this cluster."""
        return self._counts[topic]

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        """Hand a record to the producer; waits for space in its buffer only."""
        if self._producer is None:
            raise Unavailable("Kafka", "the producer is not started")
        inner = await self._producer.send(
            self._name(record.topic),
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            partition=partition,
        )
        outer: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()

        def settle(done: "asyncio.Future[object]") -> None:
            if outer.done():
                return
            if done.cancelled():
                outer.cancel()
                return
            error = done.exception()
            if error is not None:
                outer.set_exception(error)
            else:
                metadata = done.result()
                outer.set_result(Appended(partition=partition, offset=int(getattr(metadata, "offset", -1))))

        inner.add_done_callback(settle)
        return outer

    def group(self, topic: str, group: str) -> GroupReader:
        """A member of the group, static where the instance is exclusive."""
        settings = self._settings
        return KafkaGroupReader(
            self._options,
            self._profile,
            logical=topic,
            topic=self._name(topic),
            group=f"{settings.prefix}{group}",
            instance=settings.instance if settings.exclusive_instance else None,
        )

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> Tail:
        """A tail of the whole topic."""
        return KafkaTail(
            self._options,
            self._profile,
            logical=topic,
            topic=self._name(topic),
            partitions=self._counts[topic],
            since_ms=since_ms,
            on_record=on_record,
        )

    def read_to_end(self, topic: str, partitions: Collection[int]) -> AsyncIterator[LogRecord]:
        """All records of the partitions up to their present end."""
        return read_to_end(self._options, self._profile, logical=topic, topic=self._name(topic), partitions=partitions)

    async def stop(self) -> None:
        """Close the producer within a few seconds, whatever the broker does."""
        if self._producer is not None:
            with contextlib.suppress(KafkaError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(STOP_BOUND_S):
                    await self._producer.stop()
