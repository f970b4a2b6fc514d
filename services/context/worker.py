"""The context worker: generations in, prompts out."""

import asyncio
from collections.abc import Collection
from contextlib import AsyncExitStack
from typing import Protocol

from schemas.attempts import NO_ATTEMPT_LEFT, Uncalled
from schemas.chunks import ProviderError
from schemas.context import NeutralContext
from schemas.errors import UnknownRecordType
from schemas.generations import GenerationRequested
from schemas.headers import Facts
from schemas.registry import decode
from services.catalog.opening import open_where_set_up
from services.catalog.target import Target
from services.context.building.build import build as build_context
from services.context.building.messages import HistoryMessage
from services.context.building.record import what_was_read
from services.context.discord_history import DiscordHistory
from services.context.failures import CannotAssemble, ContextTooLong
from services.context.history import History, HistoryClosed
from services.context.media.resolving import MediaResolver
from services.context.metrics import HISTORY, SUPERSEDED, UNUSABLE, WITHOUT_HISTORY
from services.context.models import CatalogModels, Models, NoModel, SettingsModels
from services.context.newest import Newest
from services.context.prompting import prompt
from services.context.scene import scene_of
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.blobs.store import open_store
from services.runtime.discord import RestSession
from services.runtime.errors import ConfigurationError, OdradekError
from services.runtime.handler import Handler
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, NewRecord
from services.runtime.logs import get_logger
from services.runtime.outputs import output
from services.runtime.pace import Pace
from services.runtime.refusals import generation_failed, refused
from services.runtime.settings import Settings

log = get_logger("context")
HISTORIES_AT_ONCE = 3
HISTORY_EVERY_S = 0.5
"""How often a channel's history is read, so that a busy one does not take the 50 calls a second of the whole bot:
https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
"""

_NOTHING_LEFT = ProviderError(
    type="api_error",
    code=NO_ATTEMPT_LEFT,
    message="There is no further key or model to try.",
    retryable=False,
)


class Media(Protocol):
    """Puts the bytes of media in the place of their addresses; see MediaResolver."""

    async def resolve(self, context: NeutralContext, target: Target) -> NeutralContext:
        """The context as the target can be shown it; raises Unavailable where media cannot be kept."""
        ...


class Prompter:
    """Handles generations. It keeps which of those that wait is the newest of its channel, and who was read lately."""

    def __init__(
        self,
        settings: Settings,
        history: History,
        media: Media,
        models: Models,
    ) -> None:
        self._settings = settings
        self._history = history
        self._media = media
        self._models = models
        self._newest = Newest()
        self._pace = Pace(burst=HISTORIES_AT_ONCE, every_s=HISTORY_EVERY_S)

    async def handle(self, inbound: Inbound) -> None:
        """Make one prompt, but none for a generation that is no longer current.

        Raises a BadRecord for a record that asks for none, Unavailable while Discord, the catalog's database or
        the blob store is down.
        """
        _, request = decode(inbound.record.headers, inbound.record.value)
        if not isinstance(request, GenerationRequested):
            raise UnknownRecordType(f"{type(request).__name__} has no place in generations")
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._pace.wait_s(request.channel_id, loop.time()))
        if not self._newest.is_newest(inbound):
            SUPERSEDED.inc()
            return
        self._pace.took(request.channel_id, loop.time())
        bot_id, bot_name = self._history.bot_id(), self._history.bot_name()
        try:
            route = await self._models.ask(request)
            if route is None:
                _fail(inbound, _NOTHING_LEFT)
                return
            scene = scene_of(self._settings, request, route.options, bot_id=bot_id, bot_name=bot_name)
            built = build_context(scene, await self._up_to(request))
            context = await self._media.resolve(built.context, route.target)
            made = prompt(request, context, route, what_was_read(built))
        except NoModel as error:
            log.warning(
                "no prompt: nobody can be asked",
                turn=request.turn, generation=request.generation, problem=str(error), remedy=error.remedy,
            )  # fmt: skip
            _fail(inbound, _unusable(error.code, error), error.uncalled)
            return
        except ConfigurationError as error:
            UNUSABLE.inc()
            log.error(
                "no prompt: the settings are unusable",
                turn=request.turn, generation=request.generation, problem=str(error), remedy=error.remedy,
            )  # fmt: skip
            _fail(inbound, _unusable("configuration", error))
            return
        except CannotAssemble as error:
            log.warning(
                "no prompt: the context cannot be sent",
                turn=request.turn, generation=request.generation, problem=str(error), remedy=error.remedy,
            )  # fmt: skip
            failure = _unusable(error.code, error)
            if isinstance(error, ContextTooLong):
                failure = failure.model_copy(update={"classifiers": ("context_length",)})
            _fail(inbound, failure)
            return
        inbound.emit(
            output(
                "prompts",
                made,
                channel=request.channel_id,
                event_id=f"prompt:{request.turn}:{request.generation}",
                turn=request.turn,
                generation=request.generation,
                cause=inbound.facts.cause,
            )
        )

    async def _up_to(self, request: GenerationRequested) -> tuple[HistoryMessage, ...]:
        try:
            with HISTORY.time():
                return await self._history.up_to(request.channel_id, request.message_id, self._settings.discord_history)
        except HistoryClosed as error:
            WITHOUT_HISTORY.inc()
            log.warning(
                "going on without history, which Discord refuses",
                turn=request.turn, generation=request.generation, channel=request.channel_id, reason=str(error),
                remedy="give the bot the permission Read Message History in the channel",
            )  # fmt: skip
            return ()

    def arrived(self, inbound: Inbound) -> bool:
        """Note the generation: those of its channel that still wait have been given up for it."""
        if inbound.facts.type == GenerationRequested.__name__:
            self._newest.arrived(inbound)
        return False

    async def recover(self, partitions: Collection[int]) -> None:
        """Nothing to load."""

    def dropped(self, partitions: Collection[int]) -> None:
        """Forget what waited there."""
        self._newest.drop(partitions)

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """End a generation that could not be handled."""
        return refused("context", record, facts, reason, message)


def _unusable(code: str, error: OdradekError) -> ProviderError:
    return ProviderError(type="api_error", code=code, message=f"{error}. {error.remedy}".strip(), retryable=False)


def _fail(inbound: Inbound, error: ProviderError, uncalled: Uncalled | None = None) -> None:
    for failed in generation_failed("context", inbound.record, inbound.facts, error, uncalled=uncalled):
        inbound.emit(failed)


async def build(context: Context) -> Handler:
    """The worker's handler, bound to the process."""
    session = RestSession(context.settings)
    context.add_background(session.run)
    context.add_ready_check("discord", session.missing)
    blobs = await open_store(context.settings)
    media = MediaResolver.opened(context.settings, blobs)
    context.on_stop(media.aclose)
    context.on_stop(blobs.aclose)
    opened = AsyncExitStack()
    catalog = await open_where_set_up(context.settings, opened)
    context.on_stop(opened.aclose)
    models: Models = SettingsModels(context.settings)
    if catalog is not None:
        models = CatalogModels(catalog, context.clock, context.settings)
    return Prompter(context.settings, DiscordHistory(session), media, models)


SPEC = WorkerSpec(name="context", reads="generations", build=build)
