"""Workers over the run's broker: real processes, and the same assembly in this process where a test has to see inside."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from schemas.chunks import Dialect
from schemas.headers import Facts, HeaderReader
from schemas.prompts import KnownTool
from schemas.raw import END, SLICE, VERSION, Ending, RawEnd, RawOrigin, RawSlice
from schemas.topics import Topics, load_topics
from services.runtime.assembly import Assembly, WorkerSpec
from services.runtime.clock import Clock, SystemClock
from services.runtime.health import Health
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import bare
from services.runtime.partitions import partition_of
from services.runtime.sender import Sender
from services.runtime.settings import Settings

PARTITIONS = 4
PATIENCE_S = 40.0


class Changes:
    """Wakes whoever waits for a condition, whenever anything has happened."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def note(self, *_: object) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, condition: Callable[[], object], what: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():
                    await self._event.wait()
        except TimeoutError:
            pytest.fail(f"waited {PATIENCE_S:g} s in vain for {what}")


@dataclass
class Process:
    """A worker as a process of the operating system."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    reading: "asyncio.Task[None] | None" = None

    async def read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line.decode())
            self.changes.note()
        self.changes.note()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    async def said(self, text: str) -> None:
        await self.changes.until(
            lambda: text in self.text or (self.reading is not None and self.reading.done()), f"{text!r}"
        )
        assert text in self.text

    async def http(self) -> str:
        await self.said("http://")
        found = re.search(r"http://[\d.]+:\d+", self.text)
        assert found is not None
        return found[0]

    async def get(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as session, session.get(f"{await self.http()}{path}") as answer:
            return answer.status, await answer.text()

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE_S):
            return await self.process.wait()

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        if self.reading is not None:
            await self.reading


@dataclass
class Worker:
    """A worker assembled in this process."""

    assembly: Assembly
    log: KafkaLog
    gone: bool = False

    @property
    def feed(self) -> Any:
        return self.assembly.feed

    async def stop(self) -> None:
        self.gone = True
        await self.assembly.stop()

    async def crash(self) -> None:
        """End without a commit. The membership is given back, so that nobody has to wait for the session's end."""
        self.gone = True
        for task in (*self.assembly._tasks, *self.feed._background):
            task.cancel()
        for partition in self.feed._owned.values():
            partition.gone.set()
            partition.mailboxes.cancel()
        for lane in self.assembly.context.sender._lanes.values():
            lane.cancel()
        await asyncio.wait(self.assembly._tasks)
        await self.feed._reader.stop(leave=True)


@dataclass
class Cluster:
    settings: Settings
    topics: Topics
    stack: AsyncExitStack
    log: KafkaLog
    sender: Sender
    changes: Changes = field(default_factory=Changes)
    records: dict[str, list[LogRecord]] = field(default_factory=dict)

    async def send(self, *records: NewRecord) -> list[Appended]:
        return list(await asyncio.gather(*(self.sender.send(record) for record in records)))

    async def follow(self, *topics: str) -> None:
        def take(record: LogRecord) -> None:
            self.records[record.topic].append(record)
            self.changes.note()

        for topic in topics:
            self.records[topic] = []
            tail = self.log.tail(topic, since_ms=0, on_record=take)
            await tail.start()
            self.stack.push_async_callback(tail.stop)

    def firsts(self, *topics: str, channel: str | None = None) -> list[LogRecord]:
        """The first copy of each record, in each topic's order."""
        found: dict[tuple[str, str, str], LogRecord] = {}
        for topic in topics:
            for record in self.records[topic]:
                facts = HeaderReader(record.headers).facts()
                if channel is None or facts.channel == channel:
                    found.setdefault((topic, facts.channel, facts.id), record)
        return list(found.values())

    def copies_are_equal(self, *topics: str) -> bool:
        by_id: dict[tuple[str, str, str], tuple[bytes | None, Any]] = {}
        for topic in topics:
            for record in self.records[topic]:
                facts = HeaderReader(record.headers).facts()
                key = (topic, facts.channel, facts.id)
                if by_id.setdefault(key, (record.value, record.headers)) != (record.value, record.headers):
                    return False
        return True

    async def until(self, condition: Callable[[], object], what: str = "a condition") -> None:
        await self.changes.until(condition, what)

    async def worker(
        self, spec: WorkerSpec, *, clock: Clock | None = None, adapt: Callable[[KafkaLog], None] = lambda _: None
    ) -> Worker:
        settings = self.settings.model_copy(update={"instance": f"{spec.name}-0", "grace_s": 3.0})
        log = KafkaLog(settings, self.topics)
        self.stack.push_async_callback(log.stop)
        await log.start()
        adapt(log)
        assembly = Assembly(
            spec,
            settings=settings,
            topics=self.topics,
            cluster=log,
            clock=clock or SystemClock(),
            health=Health(),
            instance=f"{spec.name}-0",
            incarnation=f"{spec.name}-0:1",
        )
        worker = Worker(assembly, log)

        async def end() -> None:
            if not worker.gone:
                await worker.stop()

        self.stack.push_async_callback(end)
        await assembly.start()
        return worker

    async def spawn(self, name: str, **settings: object) -> Process:
        """`odradek worker` in a slot of its own."""
        return await spawn(
            self.stack,
            name,
            kafka=self.settings.kafka,
            broker=self.settings.broker,
            prefix=self.settings.prefix,
            **settings,
        )


async def spawn(stack: AsyncExitStack, name: str, **settings: object) -> Process:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ODRADEK_")}
    values = {"log_format": "json", "grace_s": 3.0} | settings
    environment |= {f"ODRADEK_{key.upper()}": str(value) for key, value in values.items()}
    process = Process(
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "services.cli", "worker", name,
            env=environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
        )
    )  # fmt: skip
    process.reading = asyncio.create_task(process.read())
    stack.push_async_callback(process.kill)
    return process


@dataclass
class Spawner:
    stack: AsyncExitStack

    async def __call__(self, name: str, **settings: object) -> Process:
        return await spawn(self.stack, name, **settings)


@pytest.fixture
async def spawn_worker() -> AsyncIterator[Spawner]:
    async with AsyncExitStack() as stack:
        yield Spawner(stack)


@asynccontextmanager
async def cluster_with(kafka: Any, prefix: str) -> AsyncIterator[Cluster]:
    settings = Settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=prefix, instance="test")
    topics = load_topics()
    await provision(settings, topics, partitions=PARTITIONS)
    log = KafkaLog(settings, topics)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(log.stop)
        await log.start()
        sender = Sender(log, topics)
        stack.push_async_callback(sender.close, within_s=2.0)
        yield Cluster(settings, topics, stack, log, sender)


@pytest.fixture
async def cluster(kafka: Any, topic_prefix: str) -> AsyncIterator[Cluster]:
    async with cluster_with(kafka, topic_prefix) as cluster:
        yield cluster


@pytest.fixture
async def other_cluster(kafka: Any, topic_prefix: str) -> AsyncIterator[Cluster]:
    """Topics of its own on the same broker, for a second run to compare with."""
    async with cluster_with(kafka, f"other-{topic_prefix}") as cluster:
        yield cluster


@dataclass
class Stream:
    """A provider's stream as raw records."""

    channel: str
    turn: str
    generation: int = 1
    instance: str = "provider-0"
    rules: int = 1
    provider: str = ""
    verbatim_tools: tuple[KnownTool, ...] = ()
    dialect: Dialect = "openai-chat"
    cause: int = 0

    def _record(self, kind: str, sequence: int | None, own: RawSlice | RawEnd, value: bytes) -> NewRecord:
        mark = "lost" if sequence is None else sequence
        facts = Facts(
            type=kind,
            version=VERSION,
            id=f"raw:{self.turn}:{self.generation}:{self.instance}:{mark}",
            channel=self.channel,
            turn=self.turn,
            generation=self.generation,
            sequence=sequence,
            cause=self.cause,
        )
        return bare("raw", value, facts, own.headers())

    @property
    def origin(self) -> RawOrigin:
        return RawOrigin(
            self.turn, self.generation, self.instance, self.dialect, "sandbox-echo", self.provider, self.rules
        )

    def slice(self, sequence: int, data: bytes) -> NewRecord:
        tools = () if sequence else self.verbatim_tools
        record = RawSlice(self.origin, sequence, 200, "text/event-stream", verbatim_tools=tools)
        return self._record(SLICE, sequence, record, data)

    def text(self, sequence: int, text: str) -> NewRecord:
        return self.slice(sequence, b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode())

    def end(self, sequence: int | None, ending: Ending = "eof") -> NewRecord:
        return self._record(END, sequence, RawEnd(self.origin, sequence, ending), b"")

    def whole(self, texts: Iterable[str]) -> list[NewRecord]:
        records = [self.text(sequence, text) for sequence, text in enumerate(texts)]
        finish = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        return [*records, self.slice(len(records), finish), self.end(len(records) + 1)]


@pytest.fixture(scope="session")
def new_stream() -> Callable[..., Stream]:
    return Stream


@pytest.fixture(scope="session")
def channels_of() -> Callable[[int, int], list[str]]:
    def find(partition: int, count: int) -> list[str]:
        names = (str(number) for number in range(1, 100_000))
        return [name for name in names if partition_of(name.encode(), PARTITIONS) == partition][:count]

    return find
