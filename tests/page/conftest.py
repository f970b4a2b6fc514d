"""The page's server between a local Discord and the run's broker, with records made by hand.

All runs on one event loop a module, so that the tests in a browser share the browser.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import aiohttp
import pytest
import pytest_asyncio

from schemas.base import Record
from schemas.chunks import DoneChunk, TextChunk
from schemas.claims import Claimed, Closed
from schemas.deliveries import SendText
from schemas.generations import GenerationRequested
from schemas.headers import Facts
from schemas.identities import stream_effect, turn_of_message
from schemas.inbox import Author, ChunkBatch, DeliveryReceipt, MessageReceived, Sent
from schemas.prompts import CredentialRef, ProviderRequest
from schemas.raw import SLICE, VERSION, RawOrigin, RawSlice
from schemas.topics import load_topics
from schemas.turns import Timings, TurnFinished
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import bare, output
from services.runtime.partitions import partition_of
from services.runtime.settings import Settings
from services.sandbox.brokers.ports import free_port
from services.sandbox.discord.entities import Message
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord
from services.sandbox.page.hops import DISCORD_EPOCH_MS
from services.sandbox.page.server import serve

CHANNEL = "77"
BEGAN_MS = 1_800_000_000_000
WITHIN_S = 30


@dataclass
class Turns:
    """Makes the records of a turn, in the words of the workers. Its message is made at `began_ms`."""

    began_ms: int = BEGAN_MS
    channel: str = CHANNEL
    turn: str = ""

    def __post_init__(self) -> None:
        if not self.turn:
            self.turn = turn_of_message(str((self.began_ms - DISCORD_EPOCH_MS) << 22))

    def message(self, content: str = "hello", name: str = "Ada") -> NewRecord:
        author = Author(id="1", name=name)
        received = MessageReceived(
            channel_id=self.channel,
            guild_id="5",
            message_id=self.turn[1:],
            author=author,
            content=content,
            source="mention",
        )
        return self._json("inbox", received)

    def requested(self) -> NewRecord:
        record = GenerationRequested(
            channel_id=self.channel,
            guild_id="5",
            turn=self.turn,
            generation=1,
            message_id=self.turn[1:],
            author=Author(id="1", name="Ada"),
            content="hello",
            deadline_ms=1_000,
        )
        return self._json("generations", record, generation=1)

    def prompt(self, text: str = "hello") -> NewRecord:
        record = ProviderRequest(
            channel_id=self.channel,
            turn=self.turn,
            generation=1,
            caused_by=self.turn[1:],
            dialect="openai-chat",
            provider="sandbox",
            model="sandbox-echo",
            url="http://127.0.0.1/v1/chat/completions",
            body={"messages": [{"role": "user", "content": text}]},
            credential=CredentialRef(name="openai", placement="bearer"),
        )
        return self._json("prompts", record, generation=1)

    def claimed(self) -> NewRecord:
        record = Claimed(effect=stream_effect(self.turn, 1), instance="provider-0", incarnation="x")
        return output("claims", record, channel=self.channel, event_id="claimed")

    def closed(self) -> NewRecord:
        record = Closed(effect=stream_effect(self.turn, 1), outcome="done", by="x")
        return output("claims", record, channel=self.channel, event_id="closed")

    def slice(self, value: bytes, sequence: int = 0) -> NewRecord:
        origin = RawOrigin(self.turn, 1, "provider-0", "openai-chat", "sandbox-echo")
        own = RawSlice(origin, sequence, 200, "text/event-stream").headers()
        facts = Facts(SLICE, VERSION, f"slice-{sequence}", self.channel, self.turn, 1, sequence)
        return bare("raw", value, facts, own)

    def batch(self, text: str, sequence: int = 0) -> NewRecord:
        chunks = (TextChunk(content=text), DoneChunk())
        record = ChunkBatch(turn=self.turn, generation=1, sequence=sequence, instance="provider-0", chunks=chunks)
        return self._json("inbox", record, generation=1, sequence=sequence)

    def text(self, text: str, sequence: int = 1) -> NewRecord:
        record = SendText(channel_id=self.channel, turn=self.turn, sequence=sequence, text=text, stop_button=True)
        return self._json("deliveries", record, sequence=sequence)

    def receipt(self, sequence: int = 1) -> NewRecord:
        record = DeliveryReceipt(turn=self.turn, sequence=sequence, outcome=Sent(message_id="9"))
        return self._json("inbox", record, sequence=sequence)

    def finished(self) -> NewRecord:
        record = TurnFinished(
            channel_id=self.channel,
            guild_id="5",
            turn=self.turn,
            status="completed",
            model="sandbox-echo",
            generations=1,
            messages=1,
            characters=5,
            timings=Timings(received_ms=BEGAN_MS, finished_ms=BEGAN_MS),
        )
        return self._json("turns", record)

    def whole(self) -> list[NewRecord]:
        """A turn from its message to its end."""
        return [
            self.message(),
            self.requested(),
            self.prompt(),
            self.claimed(),
            self.slice(b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'),
            self.batch("hi"),
            self.text("hi"),
            self.receipt(),
            self.closed(),
            self.finished(),
        ]

    def _json(
        self, topic: str, record: Record, *, generation: int | None = None, sequence: int | None = None
    ) -> NewRecord:
        return output(
            topic,
            record,
            channel=self.channel,
            event_id=f"{topic}-{generation}-{sequence}",
            turn=self.turn,
            generation=generation,
            sequence=sequence,
        )


@dataclass
class Reading:
    """Turns new records into read ones, with offsets that count for each topic."""

    partition: int = 3
    _next: dict[str, "count[int]"] = field(default_factory=dict)

    def read(self, record: NewRecord, after_ms: int) -> LogRecord:
        """The record as it is read, `after_ms` after the first turn began."""
        offset = next(self._next.setdefault(record.topic, count()))
        return LogRecord(
            record.topic, self.partition, offset, BEGAN_MS + after_ms, record.key, record.value, record.headers
        )


@dataclass
class RunningPage:
    url: str
    discord: SandboxDiscord

    def bot_says(self, content: str, *, button: str | None = None) -> Message:
        """A message by the bot in the channel that the page shows, perhaps with a Stop button."""
        world = self.discord.world
        components = []
        if button is not None:
            components = [{"type": 1, "components": [{"type": 2, "style": 2, "label": "Stop", "custom_id": button}]}]
        form = MessageForm(content=content, components=components)
        return world.posting.send(world.channel("general"), world.bot, form, ())

    def bot_edits(self, message: Message, content: str) -> None:
        """The bot's edit of its message, which takes the button off."""
        self.discord.world.posting.edit(message, self.discord.world.bot, MessageForm(content=content, components=[]))

    def newest_message(self) -> Message:
        return self.discord.world.messages(self.discord.world.channel("general"))[-1]


@dataclass
class Stream:
    """The page's events as a browser gets them."""

    response: aiohttp.ClientResponse

    async def until(self, event: str, fits: Callable[[dict], bool] = lambda _: True) -> dict:
        """The next event of this name that fits."""
        name = ""
        async with asyncio.timeout(WITHIN_S):
            async for line in self.response.content:
                if line.startswith(b"event: "):
                    name = line[7:].strip().decode()
                elif line.startswith(b"data: ") and name == event:
                    data = json.loads(line[6:])
                    if fits(data):
                        return data
        raise AssertionError(f"the stream ended before {event!r}")


@asynccontextmanager
async def page_at(settings: Settings, discord_url: str, port: int = 0) -> AsyncIterator[str]:
    """A page's server; yields its URL."""
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve("127.0.0.1", port, settings=settings, discord_url=discord_url, ready=listening.set_result)
    )
    await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield listening.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.fixture
def make_turn() -> type[Turns]:
    return Turns


@pytest.fixture
def make_reading() -> type[Reading]:
    return Reading


@pytest.fixture
def turn() -> Turns:
    return Turns()


@pytest.fixture
def reading() -> Reading:
    return Reading()


@pytest_asyncio.fixture(loop_scope="module")
async def discord() -> AsyncIterator[SandboxDiscord]:
    async with SandboxDiscord(SandboxConfig(limits=LimitsConfig(enabled=False))) as server:
        await server.start()
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def settings(kafka, topic_prefix: str) -> Settings:
    """Of the run's broker, with all topics made under a prefix of the test's own."""
    settings = Settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix)
    await provision(settings, load_topics(), partitions=2)
    return settings


@pytest_asyncio.fixture(loop_scope="module")
async def produce(settings: Settings) -> AsyncIterator[Callable[..., object]]:
    """Appends records to the test's topics, in order."""
    log = KafkaLog(settings, load_topics())
    await log.start()

    async def append(*records: NewRecord) -> None:
        for record in records:
            partition = partition_of(record.key, log.partitions(record.topic))
            await (await log.send(record, partition))

    yield append
    await log.stop()


@pytest.fixture
def open_page() -> Callable[..., AbstractAsyncContextManager[str]]:
    return page_at


@pytest_asyncio.fixture(loop_scope="module")
async def page(discord: SandboxDiscord) -> AsyncIterator[RunningPage]:
    """A page without a broker."""
    assert discord.address is not None
    async with page_at(Settings(kafka=f"127.0.0.1:{free_port()}"), discord.address.url) as url:
        yield RunningPage(url, discord)


@pytest_asyncio.fixture(loop_scope="module")
async def page_with_log(settings: Settings, discord: SandboxDiscord) -> AsyncIterator[RunningPage]:
    assert discord.address is not None
    async with page_at(settings, discord.address.url) as url:
        yield RunningPage(url, discord)


@pytest.fixture
def streaming() -> Callable[[str], AbstractAsyncContextManager[Stream]]:
    @asynccontextmanager
    async def open_stream(url: str) -> AsyncIterator[Stream]:
        timeout = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(timeout=timeout, read_bufsize=2**20) as session,
            session.get(f"{url}events") as response,
        ):
            assert response.status == 200
            yield Stream(response)

    return open_stream
