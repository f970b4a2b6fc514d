"""What Kafka itself noted of the consumer groups: every commit, and who owned which partition from when on.

Both stand in the internal topic `__consumer_offsets`. Its records are described by the files OffsetCommitKey,
OffsetCommitValue, GroupMetadataKey and GroupMetadataValue of
https://github.com/apache/kafka/tree/trunk/group-coordinator/src/main/resources/common/message
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from services.runtime.settings import Settings
from services.sandbox.chaos.clock import RunClock
from services.sandbox.checking.history import Commit, Owned

OFFSETS_TOPIC = "__consumer_offsets"
_COMMIT_KEYS = (0, 1)
_GROUP_KEY = 2
_GROUP_VALUES = (0, 1, 2, 3)


@dataclass(slots=True)
class GroupHistory:
    """In the order in which they were written."""

    commits: list[Commit] = field(default_factory=list[Commit])
    owners: list[Owned] = field(default_factory=list[Owned])


async def read_groups(settings: Settings, clock: RunClock) -> GroupHistory:
    """All that the groups of this run have noted up to now."""
    places = [TopicPartition(OFFSETS_TOPIC, number) for number in range(await _partitions(settings))]
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        begins = await consumer.offsets_for_times(dict.fromkeys(places, clock.began_ms))
        left: set[TopicPartition] = set()
        for place in places:
            begin = begins.get(place)
            if begin is None or begin.offset >= ends[place]:
                consumer.pause(place)
                continue
            consumer.seek(place, begin.offset)
            left.add(place)
        history = GroupHistory()
        while left:
            for messages in (await consumer.getmany(timeout_ms=500)).values():
                for message in messages:
                    _take(history, message.key, message.value, clock.at_ms(message.timestamp), settings.prefix)
            for place in tuple(left):
                if await consumer.position(place) >= ends[place]:
                    left.discard(place)
                    consumer.pause(place)
        return history
    finally:
        await consumer.stop()


async def _partitions(settings: Settings) -> int:
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.kafka)
    await admin.start()
    try:
        [found] = await admin.describe_topics([OFFSETS_TOPIC])
        return len(found["partitions"])
    finally:
        await admin.close()


def _take(history: GroupHistory, key: bytes | None, value: bytes | None, at: float, prefix: str) -> None:
    if key is None or value is None:
        return
    names = _Reader(key)
    version = names.number("h")
    group = names.text() or ""
    if not group.startswith(prefix):
        return
    if version in _COMMIT_KEYS:
        topic, partition = names.text() or "", names.number("i")
        offset = struct.unpack_from(">q", value, 2)[0]
        history.commits.append(
            Commit(at, group.removeprefix(prefix), topic.removeprefix(prefix), partition, int(offset))
        )
    elif version == _GROUP_KEY:
        history.owners += _owners(value, at, prefix)


def _owners(value: bytes, at: float, prefix: str) -> Iterator[Owned]:
    reader = _Reader(value)
    version = reader.number("h")
    if version not in _GROUP_VALUES:
        return
    reader.text()  # the protocol's type
    reader.number("i")  # the group's generation
    reader.text()  # the protocol
    reader.text()  # the leader
    if version >= 2:
        reader.number("q")  # since when
    for _ in range(reader.number("i")):
        member = reader.text() or ""
        instance = reader.text() if version >= 3 else None
        reader.text()  # the client's id
        reader.text()  # its host
        if version >= 1:
            reader.number("i")  # the rebalance timeout
        reader.number("i")  # the session timeout
        reader.field()  # what it subscribes to
        for topic, partition in _assigned(reader.field()):
            yield Owned(at, topic.removeprefix(prefix), partition, instance or member)


def _assigned(data: bytes) -> Iterable[tuple[str, int]]:
    if not data:
        return ()
    return (
        (str(topic), int(partition)) for topic, partition in ConsumerProtocolMemberAssignment.decode(data).partitions()
    )


@dataclass(slots=True)
class _Reader:
    """Kafka's plain (not "flexible") encoding: big-endian numbers, texts and byte strings after their length."""

    data: bytes
    place: int = 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self.data, self.place)
        self.place += struct.calcsize(form)
        return int(value)

    def text(self) -> str | None:
        length = self.number("h")
        return None if length < 0 else self._next(length).decode()

    def field(self) -> bytes:
        length = self.number("i")
        return b"" if length < 0 else self._next(length)

    def _next(self, length: int) -> bytes:
        begin, self.place = self.place, self.place + length
        return self.data[begin : self.place]
