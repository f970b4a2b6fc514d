"""Streams on the real claims, control and sender over a log in memory, against the sandbox provider's real HTTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from schemas.headers import Facts, HeaderReader
from schemas.prompts import CredentialRef, ProviderRequest, StreamDeadlines
from schemas.raw import RawEnd, RawSlice, parse_raw
from schemas.stops import OneTurn, StopRequested
from schemas.topics import load_topics
from services.provider.credentials import Credentials
from services.provider.google_tokens import GoogleTokens
from services.provider.httpx_transport import HttpxTransport
from services.provider.reach import Reach
from services.provider.streaming import Streams
from services.runtime.claims import Claims
from services.runtime.control import Control
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import output
from services.runtime.sender import Sender
from services.runtime.settings import Settings
from services.sandbox.provider.script import Answer, Play, Script
from services.sandbox.provider.server import SandboxConfig, SandboxProvider

KEY = "sandbox-key-0123456789"
CHANNEL = "900"
TURN = "m1000"
NOW_MS = 1_700_000_000_000


class MemoryTail:
    """Gets every record of its topic; a record is read as it is appended."""

    def __init__(self, on_record: Callable[[LogRecord], None]) -> None:
        self.on_record = on_record

    async def start(self) -> None: ...

    async def caught_up(self) -> None: ...

    async def reached(self, partition: int, offset: int) -> None: ...

    def at_end(self, partition: int) -> bool:
        return True

    async def stop(self) -> None: ...


class MemoryLog:
    """Topics of one partition. `frozen` keeps acknowledgements back until it is cleared by `thaw`."""

    def __init__(self) -> None:
        self.topics: dict[str, list[NewRecord]] = {}
        self.changed = asyncio.Condition()
        self.frozen: set[str] = set()
        self._tails: dict[str, list[MemoryTail]] = {}
        self._owed: list[tuple[asyncio.Future[Appended], Appended]] = []

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def partitions(self, topic: str) -> int:
        return 1

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        records = self.topics.setdefault(record.topic, [])
        records.append(record)
        offset = len(records) - 1
        for tail in self._tails.get(record.topic, ()):
            tail.on_record(LogRecord(record.topic, 0, offset, NOW_MS, record.key, record.value, record.headers))
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        if record.topic in self.frozen:
            self._owed.append((future, Appended(0, offset)))
        else:
            future.set_result(Appended(0, offset))
        async with self.changed:
            self.changed.notify_all()
        return future

    def thaw(self) -> None:
        self.frozen.clear()
        for future, appended in self._owed:
            future.set_result(appended)
        self._owed.clear()

    def group(self, topic: str, group: str) -> Any:
        raise AssertionError("these tests have no group")

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> MemoryTail:
        tail = MemoryTail(on_record)
        self._tails.setdefault(topic, []).append(tail)
        return tail

    def read_to_end(self, topic: str, partitions: Collection[int]) -> Any:
        raise AssertionError("these tests read no topic whole")


@dataclass
class Clock:
    now: int = NOW_MS

    def now_ms(self) -> int:
        return self.now


@dataclass
class Bench:
    """One provider process, its log, and the provider that it calls."""

    log: MemoryLog
    sender: Sender
    claims: Claims
    control: Control
    clock: Clock
    streams: Streams
    sandbox: SandboxProvider
    url: str
    key: str = KEY
    finished: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.pending = Pending(lambda: self.finished.append(0))

    def play(self, play: Play, *, times: int | None = 1) -> None:
        self.sandbox.enqueue(Script(play=play, times=times))

    def answer(self, status: int, **more: Any) -> None:
        self.play(Answer(status, **more))

    def request(self, **changes: Any) -> ProviderRequest:
        body = {"model": "sandbox-echo", "messages": [{"role": "user", "content": "hello there"}], "stream": True}
        base = ProviderRequest(
            channel_id=CHANNEL,
            turn=TURN,
            generation=1,
            caused_by="1000",
            dialect="openai-chat",
            provider="127.0.0.1",
            model="sandbox-echo",
            url=f"{self.url}/v1/chat/completions",
            body=body,
            credential=CredentialRef(name="openai", placement="bearer"),
            deadlines=StreamDeadlines(),
        )
        return base.model_copy(update=changes)

    def inbound(self, request: ProviderRequest, *, written_ms: int = NOW_MS) -> Inbound:
        new = output(
            "prompts",
            request,
            channel=request.channel_id,
            event_id=f"prompt:{request.turn}:{request.generation}",
            turn=request.turn,
            generation=request.generation,
            cause=7,
        )
        record = LogRecord("prompts", 0, 0, written_ms, new.key, new.value, new.headers)
        return Inbound(record, HeaderReader(new.headers).facts(), self.sender, self.pending)

    def start(self, request: ProviderRequest | None = None, **options: Any) -> "asyncio.Task[None]":
        request = request or self.request()
        return asyncio.create_task(self.streams.run(self.inbound(request, **options), request))

    async def run(self, request: ProviderRequest | None = None, **options: Any) -> None:
        await self.start(request, **options)

    async def stop_turn(self, turn: str = TURN) -> None:
        stop = StopRequested(
            channel_id=CHANNEL, stop_id="5000", target=OneTurn(turn=turn), manner="graceful", requested_by="1"
        )
        await self.sender.send(output("control", stop, channel=CHANNEL, event_id="stop:5000"))

    def raw(self) -> list[tuple[Facts, RawSlice | RawEnd, bytes]]:
        found: list[tuple[Facts, RawSlice | RawEnd, bytes]] = []
        for record in self.log.topics.get("raw", []):
            reader = HeaderReader(record.headers)
            found.append((reader.facts(), parse_raw(reader), record.value or b""))
        return found

    def body(self) -> bytes:
        return b"".join(value for _, record, value in self.raw() if isinstance(record, RawSlice))

    def ends(self) -> list[RawEnd]:
        return [record for _, record, _ in self.raw() if isinstance(record, RawEnd)]

    def end(self) -> RawEnd:
        """The only end; checks that the sequences before it have no gap."""
        (end,) = self.ends()
        assert [facts.sequence for facts, _, _ in self.raw()] == list(range(len(self.raw())))
        return end

    def closings(self) -> list[str]:
        types = [HeaderReader(record.headers).facts().type for record in self.log.topics.get("claims", [])]
        closed = [record for record in self.log.topics.get("claims", []) if b'"outcome"' in (record.value or b"")]
        assert types.count("Closed") == len(closed)
        return [(record.value or b"").split(b'"outcome":"')[1].split(b'"')[0].decode() for record in closed]

    async def appended(self, topic: str, count: int) -> None:
        """Wait until a topic holds that many records."""
        async with asyncio.timeout(10), self.log.changed:
            await self.log.changed.wait_for(lambda: len(self.log.topics.get(topic, [])) >= count)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
async def make_bench() -> AsyncIterator[Callable[..., Awaitable[Bench]]]:
    """Starts a provider process and a sandbox: ``await make_bench(most=..., key=...)``."""
    benches: list[tuple[Bench, HttpxTransport]] = []

    async def make(
        *,
        most: int = 10,
        private: bool = True,
        own: bool = False,
        key: str | None = KEY,
        blobs: Any = None,
        token_within_s: float = 10.0,
        **more: Any,
    ) -> Bench:
        sandbox = SandboxProvider(SandboxConfig(key=KEY, pace_ms=0))
        address = await sandbox.start()
        if own:
            more["provider_url"] = address.url
        settings = Settings(
            openai_api_key=key, anthropic_api_key=key, google_api_key=key, private_endpoints=private, **more
        )
        log = MemoryLog()
        clock = Clock()
        sender = Sender(log, load_topics())
        claims = Claims(log, sender, clock, instance="provider-0", incarnation="provider-0:a", exclusive=False)
        control = Control(log, clock)
        await claims.start()
        await control.start()
        transport = HttpxTransport()
        streams = Streams(
            claims=claims,
            control=control,
            transport=transport,
            credentials=Credentials(settings, GoogleTokens(httpx.Client, within_s=token_within_s)),
            clock=clock,
            reach=Reach.of(settings),
            most=most,
            blobs=blobs,
        )
        made = Bench(log, sender, claims, control, clock, streams, sandbox, address.url)
        benches.append((made, transport))
        return made

    yield make
    for made, transport in benches:
        made.log.thaw()
        await made.sandbox.stop()
        await transport.aclose()
        await made.claims.stop()
        await made.control.stop()
        await made.sender.close(within_s=1)


@pytest.fixture
async def bench(make_bench: Callable[..., Awaitable[Bench]]) -> Bench:
    return await make_bench()
