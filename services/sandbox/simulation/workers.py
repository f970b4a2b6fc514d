"""The workers of the simulated world: each service's own handler, with simulated ports where the real one has real ones."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

import httpx

from schemas.attempts import Chosen
from schemas.context import NeutralContext
from services.catalog.target import Target
from services.context.models import SettingsModels
from services.context.worker import Prompter
from services.delivery.fence import Fence
from services.delivery.handler import DeliveryHandler
from services.gateway.intake import Intake
from services.gateway.recent import read_recent
from services.gateway.stops import Stops
from services.gateway.watermarks import Watermarks
from services.normalizer import worker as normalizer
from services.orchestrator.actors import Actors
from services.orchestrator.rules import RulesByVersion
from services.orchestrator.worker import Orchestrator
from services.provider.credentials import Credentials
from services.provider.google_tokens import GoogleTokens
from services.provider.reach import Reach
from services.provider.streaming import Streams
from services.provider.worker import Provider
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.errors import Unavailable
from services.runtime.handler import Handler
from services.sandbox.simulation.code import Code
from services.sandbox.simulation.discord import BOT_ID, SimulatedChannels, SimulatedDiscord, SimulatedHistory
from services.sandbox.simulation.hosts import Host
from services.sandbox.simulation.provider import SimulatedProvider

KINDS = ("orchestrator", "context", "provider", "normalizer", "delivery", "gateway")
RECONNECT_S = 0.5
MOST_ACTORS = 1
"""So few that a channel is packed nearly whenever it rests, and woken by its next event."""

CANDIDATES = tuple(
    Chosen(provider="custom:simulated", model=model, credential=credential)
    for model in ("simulated", "fallback")
    for credential in ("openai", "gone", "anthropic")
)
"""Two models with three keys each, one of which nobody has."""


class NoMedia:
    """Context's port for media: nobody in the simulated world sends any."""

    async def resolve(self, context: NeutralContext, target: Target) -> NeutralContext:
        """The context as it is."""
        return context


class GatewaySession:
    """What the world pushes users' messages and stops into, while the gateway's process lives and is connected."""

    def __init__(self, intake: Intake, stops: Stops) -> None:
        self.intake = intake
        self.stops = stops
        self.connected = False


def spec_of(
    kind: str,
    host: Host,
    discord: SimulatedDiscord,
    provider: SimulatedProvider,
    connected: Callable[[Host, GatewaySession], None],
    code: Code,
    stamp: Callable[[], int],
    loaded: Callable[[str, int, int], None],
) -> WorkerSpec:
    """The worker's spec for one host. `code` is what it runs, `stamp` the gateway's present setting.

    `loaded` is told of each snapshot that is taken over: channel, settled offset, partition.
    """

    async def context(context: Context) -> Handler:
        models = SettingsModels(context.settings, lambda _: CANDIDATES)
        return Prompter(context.settings, SimulatedHistory(discord), NoMedia(), models)

    async def delivery(context: Context) -> Handler:
        fence = Fence(context.heartbeat_age_s)
        handler = DeliveryHandler(lambda: SimulatedChannels(discord, fence), context.clock, context.log, fence)
        context.on_stop(handler.close)
        return handler

    async def providing(context: Context) -> Handler:
        return Provider(
            Streams(
                claims=context.claims,
                control=context.control,
                transport=provider.transport(host),
                credentials=Credentials(context.settings, GoogleTokens(httpx.Client)),
                clock=context.clock,
                reach=Reach.of(context.settings),
                most=context.settings.max_streams,
            )
        )

    async def gateway(context: Context) -> None:
        watermarks = Watermarks()
        intake = Intake(context.sender.send, watermarks, rules_version=stamp())
        session = GatewaySession(intake, Stops(context.sender.send))

        async def run() -> None:
            await read_recent(context.log, watermarks, now_ms=context.clock.now_ms(), shard_id=0, shard_count=1)
            await _connect(session, discord)
            connected(host, session)

        context.add_background(run)
        context.on_stop(session.intake.close)

    async def orchestrating(context: Context) -> Handler:
        return Orchestrator(_ObservedActors(context, code.orchestrator, loaded))

    builds: dict[str, Callable[[Context], Awaitable[Handler | None]]] = {
        "context": context,
        "delivery": delivery,
        "gateway": gateway,
        "normalizer": lambda context: normalizer.build(context, code.normalizer),
        "orchestrator": orchestrating,
        "provider": providing,
    }
    reads = {
        "context": "generations",
        "delivery": "deliveries",
        "normalizer": "raw",
        "orchestrator": "inbox",
        "provider": "prompts",
    }
    effects = kind == "provider"
    return WorkerSpec(kind, reads.get(kind), builds[kind], needs_claims=effects, needs_control=effects)


class _ObservedActors(Actors):
    """Actors that tell what they take over."""

    def __init__(self, context: Context, rules: RulesByVersion, loaded: Callable[[str, int, int], None]) -> None:
        super().__init__(context.log, context.sender, context.clock, rules, most=MOST_ACTORS)
        self._loaded = loaded

    async def load(self, partitions: Collection[int]) -> None:
        await super().load(partitions)
        for partition in partitions:
            for channel, settled in self._residents.settled(partition).items():
                self._loaded(channel, settled, partition)


async def _connect(session: GatewaySession, discord: SimulatedDiscord) -> None:
    while discord.is_away():
        await asyncio.sleep(RECONNECT_S)
    await asyncio.sleep(discord.cluster.dice.uniform(0.05, 0.3))
    session.intake.connected(BOT_ID, _Backfill(discord))
    session.connected = True


class _Backfill(SimulatedHistory):
    """The gateway's history; what discord.py raises for a Discord that is away is a connection error."""

    async def _request(self) -> None:
        try:
            await super()._request()
        except Unavailable as error:
            raise ConnectionResetError from error
