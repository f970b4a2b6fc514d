"""A crowd: every worker as processes of its own between a local Discord and a local provider, on the run's broker.

The test process plays Discord and the provider, follows every topic, and waits for what it expects by condition.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.base import Record
from schemas.claims import Claimed, Closed
from schemas.deliveries import NOTICE, SendText
from schemas.errors import BadRecord
from schemas.identities import turn_of_message
from schemas.inbox import DeliveryReceipt, MessageReceived
from schemas.registry import decode
from schemas.topics import load_topics
from schemas.turns import TurnFinished
from services.cli.supervisor import Child, Command, Supervisor
from services.gateway.commands import register_commands
from services.gateway.watermarks import shard_of
from services.runtime.discord import rest_client
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.partitions import partition_of
from services.runtime.settings import Settings
from services.sandbox.brokers.ports import free_port
from services.sandbox.discord.entities import Channel, Message, User
from services.sandbox.discord.limits import LimitsConfig, Rate
from services.sandbox.discord.server import SandboxConfig as DiscordConfig
from services.sandbox.discord.server import SandboxDiscord
from services.sandbox.discord.world import WorldConfig
from services.sandbox.provider.recording import Call
from services.sandbox.provider.script import Play, Script
from services.sandbox.provider.server import SandboxConfig as ProviderConfig
from services.sandbox.provider.server import SandboxProvider

KINDS = ("gateway", "context", "provider", "normalizer", "orchestrator", "delivery")
READS = {
    "context": "generations",
    "provider": "prompts",
    "normalizer": "raw",
    "orchestrator": "inbox",
    "delivery": "deliveries",
}
PARTITIONS = 8
PATIENCE_S = 60.0
GENEROUS = LimitsConfig(rates={}, other=Rate(1_000, 1.0), overall=Rate(1_000, 1.0))
_CROWD = pytest.StashKey["Crowd"]()


class Changes:
    """Wakes whoever waits for a condition, whenever anything has happened."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def note(self, *_: object) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await self._event.wait()
        except TimeoutError:
            pytest.fail(f"waited {seconds:g} s in vain for {what}")


@dataclass(eq=False)
class Talk:
    """A channel of its own for a test, and what is said in it."""

    crowd: "Crowd"
    channel: Channel

    @property
    def id(self) -> str:
        return str(self.channel.id)

    @property
    def partition(self) -> int:
        return partition_of(self.id.encode(), PARTITIONS)

    def say(self, text: str, user: User | None = None, play: Play | None = None, times: int | None = 1) -> str:
        """Mention the bot; returns the turn. `play` is what the provider answers to it, `times` times (None: always)."""
        mark = f"[{uuid4().hex[:10]}]"
        if play is not None:
            self.crowd.provider.enqueue(Script(play, contains=mark, times=times))
        message = self.post(f"<@{self.crowd.discord.world.bot.id}> {text} {mark}", user)
        return turn_of_message(str(message.id))

    def post(self, text: str, user: User | None = None) -> Message:
        return self.crowd.discord.world.post_as(user or self.crowd.ada, self.channel, text)

    @property
    def shown(self) -> list[Message]:
        """The bot's messages that everybody sees, in Discord's order."""
        bot = self.crowd.discord.world.bot.id
        return [m for m in self.channel.messages.values() if m.author.id == bot and m.visible_to is None]

    @property
    def reply(self) -> list[Message]:
        return [message for message in self.shown if not message.content.startswith(NOTICE)]

    @property
    def notices(self) -> list[str]:
        return [message.content for message in self.shown if message.content.startswith(NOTICE)]

    @property
    def words(self) -> list[str]:
        """The reply's words; messages are cut at white space, which is not part of what is compared."""
        return " ".join(message.content for message in self.reply).split()

    @property
    def buttons(self) -> list[tuple[Message, str]]:
        """Each Stop button that can be pressed: its message and its custom id."""
        return [
            (message, str(button["custom_id"]))
            for message in self.shown
            for row in message.components
            for button in _rows(row)
        ]

    def press_stop(self, user: User | None = None) -> None:
        message, custom_id = self.buttons[-1]
        self.crowd.discord.world.press_button(user or self.crowd.ada, message, custom_id)

    def kill(self, user: User | None = None) -> None:
        self.crowd.discord.world.use_command(user or self.crowd.ada, self.channel, "kill")

    async def shows(self, messages: int) -> None:
        await self.crowd.until(lambda: len(self.reply) >= messages, f"{messages} messages in {self.channel.name}")

    async def finished(self, turn: str, seconds: float = PATIENCE_S) -> TurnFinished:
        """How the turn ended."""
        await self.crowd.until(lambda: self._results(turn), f"the end of {turn}\n{self.story()}", seconds)
        return self._results(turn)[0]

    def _results(self, turn: str) -> list[TurnFinished]:
        return [record for _, record in self.records("turns", TurnFinished) if record.turn == turn]

    def records(self, topic: str, kind: type[Record]) -> list[tuple[LogRecord, Any]]:
        """The channel's records of a type, in log order."""
        return [(read, record) for read, record in self.crowd.decoded(topic, kind) if read.key == self.id.encode()]

    def calls(self, turn: str) -> list[Call]:
        """The calls that the provider got for a turn."""
        return [call for call in self.crowd.provider.calls if call.turn == turn]

    async def called(self, turn: str) -> Call:
        """The turn's first call, once it has come."""
        return await self.crowd.provider.wait_for_call(lambda call: call.turn == turn, timeout=PATIENCE_S)

    def story(self) -> str:
        """The channel's records, one a line, to read when something went wrong."""
        lines: list[tuple[int, str]] = []
        for topic, reads in self.crowd.records.items():
            for read in reads:
                if read.key == self.id.encode():
                    names = ("type", "turn", "generation", "sequence", "ending", "dead-letter-reason")
                    facts = " ".join(f"{n}={v.decode(errors='replace')}" for n, v in read.headers if n in names)
                    hidden = topic in ("raw", "channels", "prompts")
                    value = "" if hidden else (read.value or b"")[:300].decode(errors="replace")
                    lines.append((read.timestamp_ms, f"{topic}/{read.partition}/{read.offset} {facts} {value}"))
        return "\n".join(f"{at % 1_000_000} {line}" for at, line in sorted(lines, key=lambda line: line[0]))


def _rows(component: Any) -> Iterator[dict[str, Any]]:
    if component.get("type") == 2:
        yield component
    for inner in component.get("components", ()):
        yield from _rows(inner)


@dataclass(eq=False)
class Crowd:
    """All processes, and everything that can be seen of what they do."""

    settings: Settings
    keys: tuple[str, ...]
    discord: SandboxDiscord
    provider: SandboxProvider
    supervisor: Supervisor
    directory: Path
    log: KafkaLog
    records: dict[str, list[LogRecord]]
    changes: Changes
    talks: list[Talk] = field(default_factory=list[Talk])
    _decoded: dict[str, list[tuple[LogRecord, Record | None]]] = field(
        default_factory=dict[str, list[tuple[LogRecord, Record | None]]]
    )

    @property
    def key(self) -> str:
        """The key of the settings."""
        return self.keys[0]

    @property
    def ada(self) -> User:
        return self.discord.world.user("ada")

    @property
    def grace(self) -> User:
        return self.discord.world.user("grace")

    @property
    def token(self) -> str:
        assert self.settings.discord_token is not None
        return self.settings.discord_token.get_secret_value()

    def talk(self) -> Talk:
        """A new channel; of several gateways each gets its share."""
        guilds = list(self.discord.world.state.guilds.values())
        guild = guilds[len(self.talks) % len(guilds)]
        talk = Talk(self, self.discord.world.add_channel(guild, f"talk-{len(self.talks)}"))
        self.talks.append(talk)
        return talk

    async def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
        await self.changes.until(condition, what, seconds)

    def decoded(self, topic: str, kind: type[Record]) -> list[tuple[LogRecord, Any]]:
        """The topic's readable records of a type, with how they lie in the log."""
        known = self._decoded.setdefault(topic, [])
        for read in self.records[topic][len(known) :]:
            try:
                known.append((read, decode(read.headers, read.value)[1]))
            except BadRecord:
                known.append((read, None))
        return [(read, record) for read, record in known if isinstance(record, kind)]

    async def append(self, topic: str, new: NewRecord, partition: int) -> Appended:
        """Write a record past all checks."""
        return await (await self.log.send(new, partition))

    def children(self, kind: str) -> list[Child]:
        return [child for slot, child in self.supervisor.children.items() if slot.startswith(f"{kind}-")]

    async def kill(self, kind: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the signal to the kind's first process and wait until that process is gone."""
        process = self.children(kind)[0].process
        assert process is not None
        os.kill(process.pid, number)
        await process.wait()

    async def all_ready(self) -> None:
        await self.supervisor.all_ready(within_s=PATIENCE_S)

    async def at_rest(self) -> None:
        """Wait until no claim is open, each text has its receipt, and every group has committed all that it reads."""
        await self.until(lambda: not self._open_claims(), "all claims to be closed")
        await self.until(lambda: not self._without_receipt(), "a receipt for every text")
        admin = AIOKafkaAdminClient(bootstrap_servers=self.settings.kafka)
        await admin.start()
        lag: list[str] = []
        try:
            async with asyncio.timeout(PATIENCE_S):
                while lag := await self._lag(admin):
                    await asyncio.sleep(0.1)  # the broker tells nobody of a commit: asking is the only way
        except TimeoutError:
            pytest.fail(f"not committed: {lag}")
        finally:
            await admin.close()

    def _open_claims(self) -> set[str]:
        claimed = {record.effect for _, record in self.decoded("claims", Claimed)}
        return claimed - {record.effect for _, record in self.decoded("claims", Closed)}

    def _without_receipt(self) -> set[tuple[str, int]]:
        ordered = {(record.turn, record.sequence) for _, record in self.decoded("deliveries", SendText)}
        return ordered - {(record.turn, record.sequence) for _, record in self.decoded("inbox", DeliveryReceipt)}

    async def _lag(self, admin: AIOKafkaAdminClient) -> list[str]:
        lag: list[str] = []
        for group, topic in READS.items():
            wanted = [TopicPartition(f"{self.settings.prefix}{topic}", number) for number in range(PARTITIONS)]
            committed = await admin.list_consumer_group_offsets(f"{self.settings.prefix}{group}", partitions=wanted)
            for place in wanted:
                end = max((r.offset + 1 for r in self.records[topic] if r.partition == place.partition), default=0)
                if end and committed[place].offset < end:
                    lag.append(f"{group} {place.partition}: {committed[place].offset} of {end}")
        return lag

    def contradictions(self) -> list[str]:
        """Copies of an output that are not equal, turns with two ends or none, and generations with two calls."""
        found: list[str] = []
        for topic in self.records.keys() - {"prompts", "dead-letters"}:
            copies: dict[bytes, set[bytes | None]] = {}
            for read in self.records[topic]:
                copies.setdefault(dict(read.headers).get("id", b""), set()).add(read.value)
            found += [
                f"{topic}: {id_} has {len(values)} values" for id_, values in copies.items() if len(values) > 1 and id_
            ]
        received = {turn_of_message(message.message_id) for _, message in self.decoded("inbox", MessageReceived)}
        finished = {turn.turn for _, turn in self.decoded("turns", TurnFinished)}
        found += [f"{turn} has no end" for turn in received - finished]
        calls = Counter((call.turn, call.generation) for call in self.provider.calls)
        found += [f"{place} was called {count} times" for place, count in calls.items() if count > 1]
        return found

    def leaks(self) -> list[str]:
        """Where the bot's token or a provider's key stands, in any record or log."""
        secrets = (self.token.encode(), *(key.encode() for key in self.keys))
        found = [f"log of {slot}" for slot, text in self.logs().items() if any(s in text.encode() for s in secrets)]
        for topic, reads in self.records.items():
            for read in reads:
                parts = [read.key or b"", read.value or b"", *(value for _, value in read.headers)]
                if any(secret in part for part in parts for secret in secrets):
                    found.append(f"{topic}/{read.partition}/{read.offset}")
        return found

    def logs(self) -> dict[str, str]:
        return {path.stem: path.read_text(errors="replace") for path in sorted(self.directory.glob("*.log"))}


OpenCrowd = Callable[..., AbstractAsyncContextManager[Crowd]]


@asynccontextmanager
async def _open(
    make_directory: Callable[[], Path],
    bootstrap: str,
    *,
    broker: str = "kafka",
    copies: int = 1,
    dialect: str = "openai-chat",
    grace_s: float = 2.5,
    environment: dict[str, str] | None = None,
    more_keys: dict[str, str] | None = None,
) -> AsyncIterator[Crowd]:
    """Start `copies` processes of each kind and everything around them; ends with none of them left.

    `more_keys`: keys that the provider takes beside the crowd's, by their holders.
    """
    directory = make_directory()
    token, key = f"e2e-bot-token-{uuid4().hex}", f"e2e-provider-key-{uuid4().hex}"
    prefix = f"e2e-{uuid4().hex[:8]}-"
    async with AsyncExitStack() as stack:
        discord = SandboxDiscord(DiscordConfig(world=WorldConfig(token=token), limits=GENEROUS, shards=copies))
        at = await discord.start()
        stack.push_async_callback(discord.stop)
        _spread_guilds(discord, copies)
        provider = SandboxProvider(ProviderConfig(key=key, more_keys=more_keys or {}, pace_ms=2.0))
        provider_at = await provider.start()
        stack.push_async_callback(provider.stop)
        shared = {
            "ODRADEK_KAFKA": bootstrap,
            "ODRADEK_BROKER": broker,
            "ODRADEK_PREFIX": prefix,
            "ODRADEK_DISCORD_API": at.api_url,
            "ODRADEK_DISCORD_GATEWAY": at.gateway_url,
            "ODRADEK_DISCORD_TOKEN": token,
            "ODRADEK_PROVIDER_URL": provider_at.url,
            "ODRADEK_OPENAI_API_KEY": key,
            "ODRADEK_ANTHROPIC_API_KEY": key,
            "ODRADEK_DIALECT": dialect,
            "ODRADEK_MODEL": "sandbox-echo",
            "ODRADEK_GRACE_S": str(grace_s),
        } | (environment or {})
        settings = Settings(**{name.removeprefix("ODRADEK_").lower(): value for name, value in shared.items()})
        topics = load_topics()
        await provision(settings, topics, partitions=PARTITIONS)
        async with rest_client(settings) as client:
            await register_commands(client)
        log = KafkaLog(settings.model_copy(update={"instance": "test"}), topics)
        await log.start()
        stack.push_async_callback(log.stop)
        changes = Changes()
        records: dict[str, list[LogRecord]] = {topic: [] for topic in topics.topics}
        for topic in topics.topics:
            tail = log.tail(topic, since_ms=0, on_record=partial(_keep, records[topic], changes))
            await tail.start()
            stack.push_async_callback(tail.stop)
        discord.world.state.listen(changes.note)
        supervisor = Supervisor(directory, changes.note)
        stack.push_async_callback(_stop, supervisor, grace_s)
        for number in range(copies):
            for kind in KINDS:
                port = free_port()
                own = {
                    "ODRADEK_INSTANCE": f"{kind}-{number}",
                    "ODRADEK_EXCLUSIVE_INSTANCE": "1",
                    "ODRADEK_HTTP_PORT": str(port),
                    "ODRADEK_DISCORD_SHARDS": f"{number}/{copies}",
                }
                supervisor.start(
                    Command(f"{kind}-{number}", ("worker", kind), shared | own, f"http://127.0.0.1:{port}/readyz")
                )
        await supervisor.all_ready(within_s=90)
        keys = (key, *(more_keys or {}).values())
        yield Crowd(settings, keys, discord, provider, supervisor, directory, log, records, changes)


def _keep(into: list[LogRecord], changes: Changes, read: LogRecord) -> None:
    into.append(read)
    changes.note()


def _spread_guilds(discord: SandboxDiscord, shards: int) -> None:
    """One guild on each shard."""
    world = discord.world
    people = (world.user("ada"), world.user("grace"))
    while {shard_of(guild.id, shards) for guild in world.state.guilds.values()} != set(range(shards)):
        world.add_guild(f"Sandbox {len(world.state.guilds)}", people)


async def _stop(supervisor: Supervisor, grace_s: float) -> None:
    await supervisor.stop(within_s=grace_s + 3.0)


@pytest.fixture(scope="module")
def open_crowd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OpenCrowd:
    """Opens a crowd on the broker at an address: `async with open_crowd(bootstrap, broker=kind) as crowd`."""
    inner = partial(_open, partial(tmp_path_factory.mktemp, "crowd"))

    @asynccontextmanager
    async def opened(*arguments: Any, **options: Any) -> AsyncIterator[Crowd]:
        async with inner(*arguments, **options) as crowd:
            request.config.stash[_CROWD] = crowd
            yield crowd

    return opened


@pytest.fixture(autouse=True)
def _no_process_survives_its_test() -> None:
    """Replaces the check for each test: a crowd lives as long as its module, and its processes are restarted."""


@pytest.fixture(autouse=True, scope="module")
def _no_process_survives_its_module() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children()}
    yield
    left = [child for child in psutil.Process().children() if child.pid not in before and "kafka" not in child.name()]
    left = [child for child in left if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    names = [" ".join(child.cmdline())[:200] for child in left if "services.cli" in child.cmdline()]
    assert not names


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Shows what the processes logged when a test fails."""
    report: Any = yield
    crowd = item.config.stash.get(_CROWD, None)
    if report.failed and crowd is not None:
        for slot, text in crowd.logs().items():
            report.sections.append((f"log of {slot}", "\n".join(text.splitlines()[-40:])))
        if crowd.talks:
            report.sections.append(("records of the last channel", crowd.talks[-1].story()))
    return report
