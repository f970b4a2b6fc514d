"""What a run stands on: a broker with topics, a local Discord with guilds on each shard, a local provider.

All topics get log-append times, whatever topics.yaml says: one clock then stamps every record when it is appended, and
the history has one order over all partitions.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from schemas.topics import Topics, load_topics
from services.gateway.commands import register_commands
from services.gateway.watermarks import shard_of
from services.orchestrator.rules import RULES, RulesByVersion
from services.runtime.discord import rest_client
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.settings import Settings
from services.sandbox.brokers.follower import BOTH_MUST_HAVE_IT, start_follower
from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.brokers.small_disk import SmallDisk, keep_data_on, small_disk
from services.sandbox.chaos.people import NAMES
from services.sandbox.discord.entities import Channel
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig as DiscordConfig
from services.sandbox.discord.server import SandboxDiscord
from services.sandbox.discord.world import WorldConfig
from services.sandbox.provider.server import SandboxConfig as ProviderConfig
from services.sandbox.provider.server import SandboxProvider

Say = Callable[[str], None]
MODEL = "sandbox-marked"
"""No two of its replies share a text: to find out whether a message of before is shown, delivery compares texts."""

MOST_CALLS = 20_000
HISTORY = 6


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scenario wants of the stage.

    `pace_ms`: the provider's wait before each delta. `grace_s`: how long a worker may finish after SIGTERM. `rules`: what
    the newest code of the run carries. `disk_mib`: give the broker's records a file system of their own of this size.
    `two_brokers`: a second broker has a copy of everything, and no write counts that not both have (min ISR 2).
    """

    channels: int = 8
    model: str = MODEL
    pace_ms: float = 9.0
    grace_s: float = 15.0
    rules: RulesByVersion = field(default_factory=lambda: RULES)
    disk_mib: int | None = None
    two_brokers: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """The running parts. `environment` is what every worker needs; `provider_keys` has each provider slot's own key.

    `broker` is None where the cluster is somebody else's; `follower` and `disk` are there where the scene asks for them.
    """

    scene: Scene
    settings: Settings
    topics: Topics
    partitions: int
    environment: Mapping[str, str]
    provider_keys: Mapping[str, str]
    broker: JvmKafka | None
    discord: SandboxDiscord
    provider: SandboxProvider
    log: KafkaLog
    channels: tuple[Channel, ...]
    follower: JvmKafka | None = None
    disk: SmallDisk | None = None


@contextlib.asynccontextmanager
async def open_stage(
    directory: Path, scene: Scene, *, kafka: str | None, processes: int, partitions: int, say: Say
) -> AsyncGenerator[Stage]:
    """Start everything but the workers; `processes` is their number of each kind. Raises what a missing broker raises."""
    async with contextlib.AsyncExitStack() as stack:
        broker: JvmKafka | None = None
        follower: JvmKafka | None = None
        disk: SmallDisk | None = None
        if kafka is None:
            say("starting Kafka")
            if scene.disk_mib is not None:
                disk = await stack.enter_async_context(small_disk(directory / "kafka" / "disk", mib=scene.disk_mib))
                await keep_data_on(disk, directory / "kafka")
            properties = BOTH_MUST_HAVE_IT if scene.two_brokers else {}
            broker = await JvmKafka.start(directory / "kafka", properties=properties, progress=say)
            stack.push_async_callback(broker.kill)
            kafka = broker.bootstrap
            if scene.two_brokers:
                follower = await start_follower(broker, directory / "kafka-2", properties=properties)
                stack.push_async_callback(follower.kill)
        token, key = f"chaos-token-{uuid4().hex}", f"chaos-key-{uuid4().hex}"
        discord = SandboxDiscord(
            DiscordConfig(world=WorldConfig(token=token), limits=LimitsConfig(enabled=False), shards=processes)
        )
        at = await discord.start()
        stack.push_async_callback(discord.stop)
        keys = {f"provider-{number}": f"chaos-key-{uuid4().hex}" for number in range(processes)}
        provider = SandboxProvider(
            ProviderConfig(key=key, more_keys=keys, pace_ms=scene.pace_ms, calls_kept=MOST_CALLS, bodies_kept=True)
        )
        provider_at = await provider.start()
        stack.push_async_callback(provider.stop)
        environment = {
            "ODRADEK_KAFKA": kafka,
            "ODRADEK_BROKER": "kafka",
            "ODRADEK_PREFIX": f"chaos-{uuid4().hex[:8]}-",
            "ODRADEK_DISCORD_API": at.api_url,
            "ODRADEK_DISCORD_GATEWAY": at.gateway_url,
            "ODRADEK_DISCORD_TOKEN": token,
            "ODRADEK_DISCORD_HISTORY": str(HISTORY),
            "ODRADEK_PROVIDER_URL": provider_at.url,
            "ODRADEK_OPENAI_API_KEY": key,
            "ODRADEK_ANTHROPIC_API_KEY": key,
            "ODRADEK_DIALECT": "openai-chat",
            "ODRADEK_MODEL": scene.model,
            "ODRADEK_GRACE_S": str(scene.grace_s),
            "ODRADEK_EXCLUSIVE_INSTANCE": "1",
            "ODRADEK_INSTANCE": "chaos",
            "ODRADEK_REPLICATION_FACTOR": "2" if scene.two_brokers else "1",
        }
        settings = Settings.model_validate(
            {name.removeprefix("ODRADEK_").lower(): value for name, value in environment.items()}
        )
        say(f"making topics with {partitions} partitions")
        topics = _stamped_by_the_broker(load_topics())
        await provision(settings, topics, partitions=partitions)
        async with rest_client(settings) as client:
            await register_commands(client)
        log = KafkaLog(settings, topics)
        await log.start()
        stack.push_async_callback(log.stop)
        channels = _add_channels(discord, processes, scene.channels)
        yield Stage(
            scene, settings, topics, partitions, environment, keys, broker, discord, provider, log, channels,
            follower=follower, disk=disk,
        )  # fmt: skip


def _stamped_by_the_broker(topics: Topics) -> Topics:
    stamped = {name: spec.model_copy(update={"timestamps": "log-append"}) for name, spec in topics.topics.items()}
    return topics.model_copy(update={"topics": stamped})


def _add_channels(discord: SandboxDiscord, shards: int, count: int) -> tuple[Channel, ...]:
    """Channels in so many guilds that every shard has one."""
    world = discord.world
    known = {user.username for user in world.state.users.values()}
    people = tuple(world.user(name) if name in known else world.add_user(name) for name in NAMES)
    while {shard_of(guild.id, shards) for guild in world.state.guilds.values()} != set(range(shards)):
        world.add_guild(f"Sandbox {len(world.state.guilds)}", people)
    guilds = {shard_of(guild.id, shards): guild for guild in world.state.guilds.values()}
    return tuple(world.add_channel(guilds[number % shards], f"chaos-{number}") for number in range(count))
