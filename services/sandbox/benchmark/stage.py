"""What every benchmark stands on: a broker with topics, a local Discord, the light provider, and who saw what when.

Discord, the provider and the measuring share this process, so all times come from one clock; the workers and the
reference are processes of their own.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from schemas.errors import BadRecord
from schemas.identities import turn_of_message
from schemas.registry import decode
from schemas.topics import load_topics
from schemas.turns import TurnFinished
from services.gateway.commands import register_commands
from services.runtime.discord import rest_client
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord
from services.runtime.partitions import partition_of
from services.runtime.settings import Settings
from services.sandbox.benchmark.provider import BenchProvider, Call, Plan
from services.sandbox.benchmark.replies import label_of
from services.sandbox.brokers.install import kafka_version
from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.discord.entities import Channel, Guild, Message, User
from services.sandbox.discord.events import MessageCreated, WorldEvent
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord
from services.sandbox.discord.world import WorldConfig
from services.sandbox.provider.neutral import DialectName

Say = Callable[[str], None]
MESSAGES_KEPT = 60
"""A channel: more than the history that a turn reads."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the bot's messages in Discord. `at_s`: when its request was carried out, by the monotonic clock."""

    at_s: float
    message: Message
    label: tuple[int, int] | None


@dataclass(slots=True)
class Turn:
    """One turn of a benchmark, since it was `asked_s` for: its call and what was shown of it.

    `over_s`: when the log said that it is over.
    """

    plan: Plan
    asked_s: float = field(default_factory=time.monotonic)
    call: Call | None = None
    called: asyncio.Event = field(default_factory=asyncio.Event)
    shown: list[Shown] = field(default_factory=list[Shown])
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    over_s: float | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def shows(self, messages: int) -> None:
        """Wait until so many messages of the reply are shown."""
        while len(self.shown) < messages:
            self.grown.clear()
            await self.grown.wait()

    @property
    def whole(self) -> bool:
        """Whether every paragraph is shown, once and in order."""
        labels = [shown.label for shown in self.shown]
        return labels == [(self.plan.reply.number, n) for n in range(len(self.plan.reply.completes))]


@dataclass(eq=False)
class Stage:
    """The running parts. `environment` is what a worker process needs of it."""

    settings: Settings
    environment: Mapping[str, str]
    broker: str
    partitions: int
    discord: SandboxDiscord
    provider: BenchProvider
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    _numbered: dict[int, Turn] = field(default_factory=dict[int, Turn])
    _number: int = 0

    def next_number(self) -> int:
        """A number that no reply of this stage has yet."""
        self._number += 1
        return self._number

    def add_channel(self, partition: int | None = None, guild: Guild | None = None) -> tuple[Channel, User]:
        """A channel of its own, whose records lie in a partition, with somebody who writes in it."""
        number = self.next_number()
        world = self.discord.world
        while True:
            channel = world.add_channel(guild or world.first_guild, f"bench-{number}")
            if partition in (None, partition_of(str(channel.id).encode(), self.partitions)):
                return channel, world.add_user(f"user-{number}", guild)
            world.delete_channel(channel)

    def post(self, channel: Channel, user: User, plan: Plan) -> tuple[str, Turn]:
        """Somebody mentions the bot; returns the id of the turn that this starts, and the turn."""
        message = self.discord.world.post_as(user, channel, f"<@{self.discord.world.bot.id}> go on")
        turn_id = turn_of_message(str(message.id))
        return turn_id, self.expect(turn_id, plan)

    def expect(self, turn_id: str, plan: Plan) -> Turn:
        """Answer the turn's call with a plan, and watch the turn."""
        turn = Turn(plan)
        self.provider.plans[turn_id] = plan
        self.turns[turn_id] = self._numbered[plan.reply.number] = turn
        return turn

    def forget(self, turn_id: str) -> None:
        """Drop a turn that is over."""
        turn = self.turns.pop(turn_id)
        del self.provider.plans[turn_id], self._numbered[turn.plan.reply.number]

    def called(self, call: Call) -> None:
        """The provider's word of a call."""
        turn = self.turns.get(call.turn)
        if turn is not None:
            turn.call = call
            turn.called.set()

    def saw(self, event: WorldEvent) -> None:
        """Discord's word of what happened."""
        if not isinstance(event, MessageCreated) or event.message.author.id != self.discord.world.bot.id:
            return
        label = label_of(event.message.content)
        turn = None if label is None else self._numbered.get(label[0])
        if turn is not None:
            turn.shown.append(Shown(time.monotonic(), event.message, label))
            turn.grown.set()

    def finished(self, read: LogRecord) -> None:
        """The log's word of a turn that is over."""
        with contextlib.suppress(BadRecord):
            _, record = decode(read.headers, read.value)
            if isinstance(record, TurnFinished) and (turn := self.turns.get(record.turn)) is not None:
                turn.over_s = time.monotonic()
                turn.over.set()


@contextlib.asynccontextmanager
async def open_stage(
    directory: Path, *, kafka: str | None, dialect: DialectName, partitions: int, say: Say, limits: bool = False
) -> AsyncGenerator[Stage]:
    """Start everything but workers; `limits`: Discord's rate limits hold. Raises what a missing broker raises."""
    async with contextlib.AsyncExitStack() as stack:
        if kafka is None:
            say("starting Kafka")
            broker = await JvmKafka.start(directory / "kafka", progress=say)
            stack.push_async_callback(broker.kill)
            bootstrap, what = broker.bootstrap, f"Apache Kafka {kafka_version()}, one node on this machine's Java"
        else:
            bootstrap, what = kafka, f"the cluster at {kafka}"
        token, key = f"bench-token-{uuid4().hex}", f"bench-key-{uuid4().hex}"
        discord = SandboxDiscord(
            SandboxConfig(
                world=WorldConfig(token=token, messages_kept=MESSAGES_KEPT, entries_kept=100),
                limits=LimitsConfig(enabled=limits),
            )
        )
        at = await discord.start()
        stack.push_async_callback(discord.stop)
        stage_of: list[Stage] = []
        provider = BenchProvider(dialect, lambda call: stage_of[0].called(call))
        provider_url = await provider.start()
        stack.push_async_callback(provider.stop)
        environment = {
            "ODRADEK_KAFKA": bootstrap,
            "ODRADEK_BROKER": "kafka",
            "ODRADEK_PREFIX": f"bench-{uuid4().hex[:8]}-",
            "ODRADEK_DISCORD_API": at.api_url,
            "ODRADEK_DISCORD_GATEWAY": at.gateway_url,
            "ODRADEK_DISCORD_TOKEN": token,
            "ODRADEK_PROVIDER_URL": provider_url,
            "ODRADEK_OPENAI_API_KEY": key,
            "ODRADEK_ANTHROPIC_API_KEY": key,
            "ODRADEK_DIALECT": dialect,
            "ODRADEK_MODEL": "sandbox-bench",
            "ODRADEK_GRACE_S": "2.5",
            "ODRADEK_EXCLUSIVE_INSTANCE": "1",
            "ODRADEK_INSTANCE": "bench",
        }
        settings = Settings.model_validate(
            {name.removeprefix("ODRADEK_").lower(): value for name, value in environment.items()}
        )
        say(f"making topics with {partitions} partitions")
        topics = load_topics()
        await provision(settings, topics, partitions=partitions)
        async with rest_client(settings) as client:
            await register_commands(client)
        stage = Stage(settings, environment, what, partitions, discord, provider)
        stage_of.append(stage)
        discord.world.state.listen(stage.saw)
        log = KafkaLog(settings, topics)
        await log.start()
        stack.push_async_callback(log.stop)
        tail = log.tail("turns", since_ms=0, on_record=stage.finished)
        await tail.start()
        stack.push_async_callback(tail.stop)
        yield stage
