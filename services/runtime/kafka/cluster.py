"""The log port on a Kafka cluster: one producer a process, group readers and tails on demand."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.topics import Topics
from services.runtime.answering import Answering
from services.runtime.errors import TopicMismatch, Unavailable
from services.runtime.kafka.connection import client_options, profile_of
from services.runtime.kafka.group import KafkaGroupReader
from services.runtime.kafka.tail import KafkaTail, partition_ends, read_to_end
from services.runtime.log import Appended, GroupReader, LogRecord, NewRecord, Tail
from services.runtime.settings import Settings

STOP_BOUND_S = 5.0
BATCH_BYTES = 256 * 1024


class KafkaLog:
    """A cluster as one process sees it. `start` raises Unavailable or TopicMismatch."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self._options = client_options(settings)
        self._profile = profile_of(settings)
        self._counts: dict[str, int] = {}
        self._producer: AIOKafkaProducer | None = None
        self._refused: Counter[TopicPartition] = Counter()
        self._answering = Answering("Kafka", settings.kafka, self._ask)

    async def start(self) -> None:
        """Connect, and learn how many partitions each topic has."""
        producer = AIOKafkaProducer(
            **self._options,
            acks="all",
            enable_idempotence=self._profile.idempotent,
            linger_ms=self._profile.linger_ms,
            max_batch_size=min(BATCH_BYTES, self._smallest_limit()),
            max_request_size=9 * 1024 * 1024,
        )
        try:
            async with asyncio.timeout(20):
                await producer.start()
                # Never asked for by name: a broker that makes topics on demand would make one with its own partitions.
                found = await producer.client.fetch_all_metadata()
        except BaseException as error:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await producer.stop()
            if isinstance(error, KafkaError | TimeoutError | OSError):
                raise Unavailable(
                    "Kafka", f"no broker answers at {self._settings.kafka} ({type(error).__name__})"
                ) from error
            raise
        self._producer = producer
        self._counts = {name: len(found.partitions_for_topic(self._name(name)) or ()) for name in self._topics.topics}
        missing = [self._name(name) for name, count in self._counts.items() if count == 0]
        if missing:
            raise TopicMismatch(
                f"{len(missing)} of {len(self._counts)} topics do not exist on {self._settings.kafka}, "
                f"the first is {missing[0]!r}",
                remedy="create the topics with `odradek topics create`",
            )
        shared = {n: self._counts[n] for n, spec in self._topics.topics.items() if spec.partitions == "shared"}
        if len(set(shared.values())) != 1:
            raise TopicMismatch(
                f"the channel topics differ in their number of partitions: {shared}",
                remedy="run `odradek topics check` and make them equal",
            )

        # Or the client would ask for all topics of the cluster, until something is written to one.
        await producer.client.add_topic(self._name(next(iter(self._topics.topics))))
        self._answering.start()

    async def _ask(self) -> bool:
        """Whether any broker tells where the partitions are; the producer learns of new leaders by the way."""
        return self._producer is not None and bool(await self._producer.client.force_metadata_update())

    def missing(self) -> str | None:
        """What a ready check says: None while the cluster answers."""
        if self._producer is None:
            return f"not connected to {self._settings.kafka} yet"
        return self._answering.missing()

    def _smallest_limit(self) -> int:
        """The broker holds a batch as a whole against its topic's limit, so none may be larger than the smallest."""
        return min(int(spec.kafka_config()["max.message.bytes"]) for spec in self._topics.topics.values())

    def _name(self, topic: str) -> str:
        return f"{self._settings.prefix}{topic}"

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has on this cluster."""
        return self._counts[topic]

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        """Hand a record to the producer; waits for space in its buffer only.

        After a failed append of the partition, call it again only once everything sent there has failed or succeeded.
        """
        if self._producer is None:
            raise Unavailable("Kafka", "the producer is not started")
        place = TopicPartition(self._name(record.topic), partition)
        self._rewind(self._producer, place)
        inner = await self._producer.send(
            place.topic,
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
                self._refused[place] += 1
                outer.set_exception(error)
            else:
                metadata = done.result()
                outer.set_result(Appended(partition=partition, offset=int(getattr(metadata, "offset", -1))))

        inner.add_done_callback(settle)
        return outer

    def _rewind(self, producer: AIOKafkaProducer, place: TopicPartition) -> None:
        """Number on from the last record that the broker took.

        An idempotent producer of aiokafka counts refused records too, and the broker would refuse all after the gap.
        """
        refused = self._refused.pop(place, 0)
        if refused and producer._txn_manager is not None:
            producer._txn_manager.increment_sequence_number(place, -refused)

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

    def read_to_end(
        self, topic: str, partitions: Collection[int], *, since_ms: int = 0, first: Mapping[int, int] | None = None
    ) -> AsyncIterator[LogRecord]:
        """All records of the partitions from a time or an offset up to their present end."""
        return read_to_end(
            self._options,
            self._profile,
            logical=topic,
            topic=self._name(topic),
            partitions=partitions,
            since_ms=since_ms,
            first=first or {},
        )

    async def ends(self, topic: str, partitions: Collection[int]) -> Mapping[int, int]:
        """The offset that each partition's next record gets; empty on the embedded broker, which tells it too low."""
        return await partition_ends(self._options, self._profile, topic=self._name(topic), partitions=partitions)

    async def stop(self) -> None:
        """Close the producer within a few seconds, whatever the broker does."""
        await self._answering.stop()
        if self._producer is not None:
            with contextlib.suppress(KafkaError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(STOP_BOUND_S):
                    await self._producer.stop()
