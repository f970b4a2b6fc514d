"""`bench streams`: one provider process alone, with many idle streams and beside a guild that asks for hundreds at once.

Prompts are written as context would write them, and what the process makes of them is read from `raw`; no other worker
runs. All times come from this process's clock.
"""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psutil

from schemas.headers import HeaderReader
from schemas.prompts import CredentialRef, ProviderRequest, StreamDeadlines
from schemas.raw import SLICE
from schemas.stops import OneTurn, StopRequested
from schemas.topics import load_topics
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord
from services.runtime.outputs import output
from services.runtime.sender import Sender
from services.runtime.settings import Settings
from services.sandbox.benchmark.crew import Crew
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.provider import MODEL, BenchProvider, Call, Plan
from services.sandbox.benchmark.quantiles import Quantiles, in_ms
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.runners import TurnHangs
from services.sandbox.benchmark.stage import Say
from services.sandbox.brokers.embedded import EmbeddedBroker

PARTITIONS = 16
GUILDS = 100
IDLE_S = 1_000.0
PATIENCE_S = 180.0
MIB = 1024 * 1024
MOST_RATIO = 1.2
_CHANNEL = 10**17


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for. `idle` streams at once, of which `stops` are stopped; `flood` prompts of one guild at once, and
    `asks` of another, one after another, alone and beside it. `first_byte_s`: what the provider takes.
    """

    idle: int
    stops: int
    flood: int
    asks: int
    first_byte_s: float


@dataclass(frozen=True, slots=True)
class IdleFigures:
    """Memory of the process, MiB, before and with the streams; stops from their record to the closed connection, ms."""

    streams: int
    rss_before_mib: float
    rss_mib: float
    kib_a_stream: float
    all_open_s: float
    stop_to_closed_ms: Quantiles


@dataclass(frozen=True, slots=True)
class ShareFigures:
    """From a prompt's record to its first byte in `raw`, ms, of the guild beside the flood; `calls` of it were made."""

    flood: int
    calls: int
    alone_ms: Quantiles
    beside_ms: Quantiles
    ratio_p50: float
    ratio_most: float
    within_20_percent: bool


@dataclass(frozen=True, slots=True)
class StreamsReport:
    """The result."""

    command: str
    machine: Machine
    broker: str
    provider_first_byte_ms: float
    idle: IdleFigures
    shares: ShareFigures


@dataclass(eq=False)
class _Bench:
    """A log, the light provider, and the streams that were asked for; times are seconds of the monotonic clock."""

    settings: Settings
    environment: dict[str, str]
    url: str
    sender: Sender
    provider: BenchProvider
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    first_byte_s: dict[str, float] = field(default_factory=dict[str, float])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    number: int = 0

    def note(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def called(self, call: Call) -> None:
        self.calls[call.turn] = call
        self.note()

    def read(self, record: LogRecord) -> None:
        facts = HeaderReader(record.headers).facts()
        if facts.type == SLICE and facts.turn is not None:
            self.first_byte_s.setdefault(facts.turn, time.monotonic())
            self.note()

    async def until_begun(self, turns: Sequence[str]) -> None:
        """Wait until a byte of each has come; raises TurnHangs."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not all(turn in self.first_byte_s for turn in turns):
                    await self.changed.wait()
        except TimeoutError:
            begun = sum(turn in self.first_byte_s for turn in turns)
            raise TurnHangs(f"{begun} of {len(turns)} streams have begun", remedy="read the worker's log") from None

    async def ask(self, guild: int, plan_of: float, first_byte_s: float) -> str:
        """Write a prompt, in a channel of its own; returns the turn. `plan_of`: seconds from delta to delta."""
        self.number += 1
        turn, channel = f"m{self.number}", str(_CHANNEL + self.number)
        reply = make_reply(self.number, paragraphs=1)
        self.provider.plans[turn] = Plan(reply, plan_of, first_byte_s=first_byte_s)
        request = ProviderRequest(
            channel_id=channel,
            guild_id=str(guild),
            turn=turn,
            generation=1,
            caused_by=str(self.number),
            dialect="openai-chat",
            provider="openai",
            model=MODEL,
            url=f"{self.url}/v1/chat/completions",
            headers={"x-odradek-turn": turn},
            body={"model": MODEL, "messages": [{"role": "user", "content": "go on"}], "stream": True},
            credential=CredentialRef(name="openai", placement="bearer"),
            deadlines=StreamDeadlines(idle_ms=int(IDLE_S * 1000), total_ms=int(IDLE_S * 1000)),
        )
        new = output("prompts", request, channel=channel, event_id=f"prompt:{turn}:1", turn=turn, generation=1, cause=0)
        await self.sender.send(new)
        return turn

    async def stop(self, turn: str) -> float:
        """Stop a turn; returns the seconds until its connection was closed."""
        call = self.calls[turn]
        channel = str(_CHANNEL + int(turn[1:]))
        stop = StopRequested(
            channel_id=channel, stop_id=turn[1:], target=OneTurn(turn=turn), manner="graceful", requested_by="1"
        )
        asked_s = time.monotonic()
        await self.sender.send(output("control", stop, channel=channel, event_id=f"stop:{turn}"))
        async with asyncio.timeout(PATIENCE_S):
            await call.ended.wait()
        return (call.ended_s or time.monotonic()) - asked_s


async def measure_streams(crew: Crew, wishes: Wishes, *, kafka: str | None, command: str, say: Say) -> StreamsReport:
    """The whole benchmark, with a broker of its own unless `kafka` names one; raises TurnHangs."""
    machine = this_machine()
    async with _open(kafka, say) as (bench, broker):
        say("starting one provider process")
        await crew.start("provider", 1, {**bench.environment, "ODRADEK_MAX_STREAMS": str(wishes.idle + wishes.flood)})
        (member,) = crew.members("provider")
        process = psutil.Process(member.pid)
        shares = await _shares(bench, wishes, say)
        idle = await _idle(bench, process, wishes, say)
    return StreamsReport(command, machine, broker, wishes.first_byte_s * 1000, idle, shares)


async def _idle(bench: _Bench, process: psutil.Process, wishes: Wishes, say: Say) -> IdleFigures:
    before = process.memory_info().rss
    began_s = time.monotonic()
    say(f"opening {wishes.idle} streams that say one word and fall silent")
    turns = [await bench.ask(number % GUILDS, IDLE_S, 0.0) for number in range(wishes.idle)]
    await bench.until_begun(turns)
    open_s = time.monotonic() - began_s
    held = process.memory_info().rss
    say(f"{held / MIB:.0f} MiB; stopping {wishes.stops} of them, one after another")
    stops = [await bench.stop(turn) for turn in turns[:: max(1, len(turns) // wishes.stops)][: wishes.stops]]
    held = max(held, process.memory_info().rss)
    return IdleFigures(
        streams=wishes.idle,
        rss_before_mib=round(before / MIB, 1),
        rss_mib=round(held / MIB, 1),
        kib_a_stream=round((held - before) / 1024 / wishes.idle, 1),
        all_open_s=round(open_s, 1),
        stop_to_closed_ms=in_ms(stops),
    )


async def _shares(bench: _Bench, wishes: Wishes, say: Say) -> ShareFigures:
    async def asks() -> list[float]:
        waited: list[float] = []
        for _ in range(wishes.asks):
            asked_s = time.monotonic()
            turn = await bench.ask(GUILDS + 1, 0.0, wishes.first_byte_s)
            await bench.until_begun([turn])
            waited.append(bench.first_byte_s[turn] - asked_s)
        return waited

    say(f"{wishes.asks} streams of a guild that is alone")
    await asks()
    alone = await asks()
    say(f"the same beside a guild that asks for {wishes.flood} at once")
    flood = await asyncio.gather(*(bench.ask(GUILDS + 2, 0.25, wishes.first_byte_s) for _ in range(wishes.flood)))
    beside = await asks()
    calls = sum(turn in bench.calls for turn in flood)
    before, after = in_ms(alone), in_ms(beside)
    p50, most = (after.p50 or 0.0) / (before.p50 or 1.0), (after.most or 0.0) / (before.most or 1.0)
    await bench.until_begun([turn for turn in flood if turn in bench.calls])
    return ShareFigures(
        flood=wishes.flood,
        calls=calls,
        alone_ms=before,
        beside_ms=after,
        ratio_p50=round(p50, 3),
        ratio_most=round(most, 3),
        within_20_percent=max(p50, most) <= MOST_RATIO,
    )


@contextlib.asynccontextmanager
async def _open(kafka: str | None, say: Say) -> AsyncGenerator[tuple[_Bench, str]]:
    async with contextlib.AsyncExitStack() as stack:
        if kafka is None:
            say("starting the embedded broker")
            broker = await EmbeddedBroker.start(Path(tempfile.mkdtemp(prefix="odradek-bench-")))
            stack.push_async_callback(broker.kill)
            bootstrap, kind, what = broker.bootstrap, "embedded", "the embedded broker"
        else:
            bootstrap, kind, what = kafka, "kafka", f"the cluster at {kafka}"
        benches: list[_Bench] = []
        provider = BenchProvider("openai-chat", lambda call: benches[0].called(call))
        url = await provider.start()
        stack.push_async_callback(provider.stop)
        environment = {
            "ODRADEK_KAFKA": bootstrap,
            "ODRADEK_BROKER": kind,
            "ODRADEK_PREFIX": f"bench-{uuid4().hex[:8]}-",
            "ODRADEK_PROVIDER_URL": url,
            "ODRADEK_OPENAI_API_KEY": f"bench-key-{uuid4().hex}",
            "ODRADEK_GRACE_S": "2.5",
            "ODRADEK_EXCLUSIVE_INSTANCE": "1",
            "ODRADEK_INSTANCE": "bench",
        }
        settings = Settings.model_validate(
            {name.removeprefix("ODRADEK_").lower(): value for name, value in environment.items()}
        )
        topics = load_topics()
        await provision(settings, topics, partitions=PARTITIONS)
        log = KafkaLog(settings, topics)
        await log.start()
        stack.push_async_callback(log.stop)
        bench = _Bench(settings, environment, url, Sender(log, topics), provider)
        benches.append(bench)
        tail = log.tail("raw", since_ms=0, on_record=bench.read)
        await tail.start()
        stack.push_async_callback(tail.stop)
        yield bench, what
