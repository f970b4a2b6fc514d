"""Topics of a test's own on the run's broker, a log that fails on demand, and a handler that takes notes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from schemas.headers import Facts
from schemas.topics import Topics, load_topics
from services.runtime.claims import Claims
from services.runtime.clock import SystemClock
from services.runtime.feed import Feed
from services.runtime.inbound import Inbound
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import bare
from services.runtime.partitions import partition_of
from services.runtime.sender import Sender
from services.runtime.settings import Settings

PARTITIONS = 4
PATIENCE_S = 30.0


class Changes:
    """Wakes whoever waits for a condition, whenever anything has happened."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def note(self, *_: object) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, condition: Callable[[], object], what: str = "a condition") -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():
                    await self._event.wait()
        except TimeoutError:
            pytest.fail(f"waited {PATIENCE_S:g} s in vain for {what}")


def note(channel: str, number: int, *, topic: str = "inbox", size: int = 0, partition: int | None = None) -> NewRecord:
    """A record of bytes that no worker knows, numbered within its channel."""
    facts = Facts(type="Note", version=1, id=f"{channel}:{number}", channel=channel)
    record = bare(topic, str(number).encode().ljust(size, b"."), facts)
    return NewRecord(record.topic, record.key, record.value, record.headers, partition)


def channels_of(partition: int, count: int, partitions: int = PARTITIONS) -> list[str]:
    """Names of channels that lie in a partition."""
    found: list[str] = []
    number = 1
    while len(found) < count:
        if partition_of(str(number).encode(), partitions) == partition:
            found.append(str(number))
        number += 1
    return found


class FlakyLog:
    """A log in memory that fails when it is told to, as no real broker can be told.

    Sends are numbered from 0. `refused` raise at the handover; `failed` are taken and fail afterwards, `lost_acks` too
    but after they were appended. Acknowledgements come in a later turn of the loop, or at `acknowledge` when `manual`.
    An `idempotent` log refuses what was sent behind a failure, as Kafka does by its sequence numbers.
    """

    def __init__(self) -> None:
        self.refused: set[int] = set()
        self.failed: set[int] = set()
        self.lost_acks: set[int] = set()
        self.manual = False
        self.idempotent = True
        self._broken = False
        self.sends = 0
        self.appended: list[NewRecord] = []
        self.handover: asyncio.Event | None = None
        self.handing_over = asyncio.Event()
        self._owed: list[tuple[int, NewRecord, asyncio.Future[Appended]]] = []

    def partitions(self, topic: str) -> int:
        return PARTITIONS

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        number = self.sends
        self.sends += 1
        self.handing_over.set()
        if self.handover is not None:
            await self.handover.wait()
        if number in self.refused:
            raise ConnectionError("refused")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Appended] = loop.create_future()
        self._owed.append((number, record, future))
        if not self.manual:
            loop.call_soon(self.acknowledge)
        return future

    def acknowledge(self, most: int = 1) -> None:
        """Append, or fail, the oldest of what was sent."""
        for number, record, future in self._owed[:most]:
            fails = number in self.failed or (self.idempotent and self._broken)
            if not fails:
                self.appended.append(record)
            if fails or number in self.lost_acks:
                self._broken = True
                future.set_exception(ConnectionError("failed"))
            else:
                future.set_result(Appended(0, len(self.appended) - 1))
        del self._owed[:most]
        self._broken = self._broken and bool(self._owed)

    @property
    def texts(self) -> list[str]:
        return [(record.value or b"").decode().rstrip(".") for record in self.appended]

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def group(self, topic: str, group: str) -> Any:
        raise AssertionError("this log has no group")

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> Any:
        raise AssertionError("this log has no tail")

    def read_to_end(self, topic: str, partitions: Collection[int]) -> Any:
        raise AssertionError("this log is not read")


@dataclass
class Notebook:
    """A handler that writes down what it is asked, and does what the test says in between."""

    behaviour: Callable[[Inbound], Awaitable[None]] | None = None
    changes: Changes = field(default_factory=Changes)
    arrivals: list[tuple[str, int]] = field(default_factory=list)
    overtaking: set[tuple[str, int]] = field(default_factory=set)
    begun: list[tuple[str, int]] = field(default_factory=list)
    handled: list[tuple[str, int]] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)
    recovered: list[int] = field(default_factory=list)
    dropped_partitions: list[int] = field(default_factory=list)
    refusals: list[NewRecord] = field(default_factory=list)

    async def handle(self, inbound: Inbound) -> None:
        what = (inbound.facts.channel, int((inbound.record.value or b"").rstrip(b".")))
        self.begun.append(what)
        self.changes.note()
        if self.behaviour is not None:
            await self.behaviour(inbound)
        self.handled.append(what)
        self.offsets.append((inbound.record.partition, inbound.record.offset))
        self.changes.note()

    def arrived(self, inbound: Inbound) -> bool:
        what = (inbound.facts.channel, int((inbound.record.value or b"").rstrip(b".")))
        self.arrivals.append(what)
        return what in self.overtaking

    async def recover(self, partitions: Collection[int]) -> None:
        self.recovered += partitions
        self.changes.note()

    def dropped(self, partitions: Collection[int]) -> None:
        self.dropped_partitions += partitions
        self.changes.note()

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        return list(self.refusals)

    async def until(self, condition: Callable[[], object], what: str = "a condition") -> None:
        await self.changes.until(condition, what)


@dataclass
class Member:
    """One worker process' feed, in this process."""

    log: KafkaLog
    sender: Sender
    handler: Notebook
    feed: Feed
    task: "asyncio.Task[None]"
    reader: Any
    gone: bool = False

    async def stop(self, *, finish_s: float = 2.0) -> None:
        self.gone = True
        await self.feed.stop(finish_s=finish_s, leave=True)
        self.task.cancel()
        await asyncio.wait({self.task})

    async def crash(self, *, leave: bool = True) -> None:
        """End without a commit. `leave` gives the membership back, so that nobody has to wait for the session's end."""
        self.gone = True
        for task in (self.task, *self.feed._background):
            task.cancel()
        for partition in (*self.feed._owned.values(), *self.feed._suspended.values(), *self.feed._lost):
            partition.gone.set()
            partition.mailboxes.cancel()
        await asyncio.wait({self.task})
        await self.reader.stop(leave=leave)


@dataclass
class Cluster:
    """Topics of the test's own on a broker, and whoever the test connects to it."""

    settings: Settings
    topics: Topics
    stack: AsyncExitStack

    async def connect(self, **changes: object) -> KafkaLog:
        log = KafkaLog(self.settings.model_copy(update=changes), self.topics)
        self.stack.push_async_callback(log.stop)
        await log.start()
        return log

    async def sender(self, log: KafkaLog) -> Sender:
        sender = Sender(log, self.topics)
        self.stack.push_async_callback(sender.close, within_s=2.0)
        return sender

    async def follow(self, log: KafkaLog, topic: str) -> tuple[list[LogRecord], Changes]:
        """All records of a topic as they come."""
        records: list[LogRecord] = []
        changes = Changes()

        def take(record: LogRecord) -> None:
            records.append(record)
            changes.note()

        tail = log.tail(topic, since_ms=0, on_record=take)
        await tail.start()
        self.stack.push_async_callback(tail.stop)
        return records, changes

    async def member(
        self,
        handler: Notebook,
        *,
        topic: str = "inbox",
        max_unprocessed: int = 2_000,
        **settings: object,
    ) -> Member:
        log = await self.connect(**settings)
        sender = await self.sender(log)
        reader = log.group(topic, "readers")
        feed = Feed(
            service="notebook",
            topic=topic,
            log_port=log,
            reader=reader,
            sender=sender,
            handler=handler,
            topics=self.topics,
            max_unprocessed=max_unprocessed,
        )
        member = Member(log, sender, handler, feed, asyncio.create_task(feed.run()), reader)

        async def end() -> None:
            if not member.gone:
                await member.stop(finish_s=0.2)

        self.stack.push_async_callback(end)
        return member

    async def claims(self, instance: str, incarnation: str, *, exclusive: bool = False, start: bool = True) -> Claims:
        log = await self.connect(instance=instance)
        sender = await self.sender(log)
        claims = Claims(log, sender, SystemClock(), instance=instance, incarnation=incarnation, exclusive=exclusive)
        if start:
            await claims.start()
            self.stack.push_async_callback(claims.stop)
        return claims


@asynccontextmanager
async def make_cluster(bootstrap: str, *, kind: str = "kafka", prefix: str = "") -> AsyncIterator[Cluster]:
    settings = Settings.model_validate({"kafka": bootstrap, "broker": kind, "prefix": prefix})
    topics = load_topics()
    await provision(settings, topics, partitions=PARTITIONS)
    async with AsyncExitStack() as stack:
        yield Cluster(settings, topics, stack)


@pytest.fixture
async def cluster(kafka: Any, topic_prefix: str) -> AsyncIterator[Cluster]:
    async with make_cluster(kafka.bootstrap, kind=kafka.kind, prefix=topic_prefix) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def new_cluster() -> Callable[..., Any]:
    """For brokers of a test's own: ``async with new_cluster(broker.bootstrap) as cluster``."""
    return make_cluster


@pytest.fixture
def flaky() -> FlakyLog:
    return FlakyLog()


@pytest.fixture(scope="session")
def new_flaky() -> Callable[[], FlakyLog]:
    return FlakyLog


@pytest.fixture(scope="session")
def notebook() -> Callable[..., Notebook]:
    return Notebook


@pytest.fixture(scope="session", name="note")
def note_fixture() -> Callable[..., NewRecord]:
    return note


@pytest.fixture(scope="session", name="channels_of")
def channels_of_fixture() -> Callable[..., list[str]]:
    return channels_of
