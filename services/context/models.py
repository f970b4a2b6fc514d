"""Which model a generation asks, with which key and options: the catalog's choice, or what the operator's settings say."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, assert_never

from schemas.attempts import Chosen, Uncalled
from schemas.context import GenerationOptions
from schemas.generations import GenerationRequested
from schemas.prompts import Placement
from services.catalog.attempts import Exhausted, next_attempt
from services.catalog.catalog import Catalog
from services.catalog.chain import Attempt, CannotAnswer
from services.catalog.errors import FailureKind
from services.catalog.sides import Turn
from services.catalog.target import Target
from services.context.choosing import choose
from services.context.configured import candidates, options_of, placement_of, target_of
from services.context.habits.table import habits_of
from services.runtime.clock import Clock
from services.runtime.errors import ConfigurationError, OdradekError, Unavailable
from services.runtime.logs import get_logger
from services.runtime.settings import Settings

log = get_logger("context")

WITHIN_S = 15.0
"""How long the catalog may take; a SQLite file that others write gives up by itself after 10 s."""


@dataclass(frozen=True, slots=True)
class Route:
    """Whom a generation asks, and how; `chosen` names the key."""

    chosen: Chosen
    target: Target
    placement: Placement
    options: GenerationOptions


class NoModel(OdradekError):
    """Nobody can be asked for the turn; the message may be shown. `code` says why, `uncalled` whose provider."""

    def __init__(self, found: CannotAnswer) -> None:
        message, remedy = _why(found.kind, found.provider)
        super().__init__(message, remedy=remedy)
        self.code: FailureKind = found.kind
        self.uncalled = Uncalled(source=found.source, provider=found.provider)


class Models(Protocol):
    """Chooses whom a generation asks."""

    async def ask(self, request: GenerationRequested) -> Route | None:
        """By the plan of its attempt; None where nobody is left to ask.

        Raises NoModel, CannotAssemble, ConfigurationError, or Unavailable while the catalog's database is away.
        """
        ...


class SettingsModels:
    """The operator's one model and key."""

    def __init__(self, settings: Settings, known: Callable[[Settings], Sequence[Chosen]] = candidates) -> None:
        """`known`: the models and keys that there are, in the order of preference."""
        self._settings = settings
        self._known = known

    async def ask(self, request: GenerationRequested) -> Route | None:
        """See Models."""
        chosen = choose(request.attempt, self._known(self._settings))
        if chosen is None:
            return None
        target = target_of(self._settings, chosen.model)
        return Route(chosen, target, placement_of(self._settings), options_of(self._settings))


class CatalogModels:
    """What servers and people have set up; where neither has anything, the operator's settings, if they name a key."""

    def __init__(self, catalog: Catalog, clock: Clock, settings: Settings) -> None:
        self._catalog = catalog
        self._clock = clock
        self._operators = SettingsModels(settings)
        self._defaults = options_of(settings)

    async def ask(self, request: GenerationRequested) -> Route | None:
        """See Models."""
        found = await self._next(request)
        match found:
            case Attempt():
                return self._route(request.turn, found)
            case Exhausted():
                return None
            case CannotAnswer(nothing_set_up=True):
                try:
                    return await self._operators.ask(request)
                except ConfigurationError as error:
                    log.info("the settings cannot answer either", turn=request.turn, problem=str(error))
                    raise NoModel(found) from None
            case CannotAnswer():
                raise NoModel(found)
            case _:
                assert_never(found)

    async def _next(self, request: GenerationRequested) -> Attempt | Exhausted | CannotAnswer:
        plan = request.attempt
        turn = Turn(
            id=request.turn,
            server=request.guild_id,
            channel=request.channel_id,
            person=request.author.id,
            earlier=() if plan is None else plan.earlier,
        )
        try:
            async with asyncio.timeout(WITHIN_S):
                return await next_attempt(self._catalog, turn, partial(choose, plan), self._clock.now_ms())
        except TimeoutError:
            raise Unavailable("the catalog's database", f"no answer within {WITHIN_S:g} s") from None

    def _route(self, turn: str, attempt: Attempt) -> Route:
        """What a configuration leaves open, or holds so that it cannot be used, is as the settings say."""
        if attempt.left_out:
            log.warning(
                "options are left out: what the database holds of them cannot be used",
                turn=turn, provider=attempt.chosen.provider, source=attempt.source, options=attempt.left_out,
                remedy="set them anew: `odradek model parameters`, `odradek model stop-strings`",
            )  # fmt: skip
        own = {name: getattr(attempt.options, name) for name in attempt.options.model_fields_set}
        placement = "none" if attempt.credential is None else habits_of(attempt.target).placement
        return Route(attempt.chosen, attempt.target, placement, self._defaults.model_copy(update=own))


def _why(code: FailureKind, provider: str) -> tuple[str, str]:
    """What happened, and what to do about it."""
    name = provider or "a provider"
    match code:
        case "no_saved_config":
            return f"the chosen model's provider, {name}, is not set up", "Set it up: `odradek provider add`."
        case "decryption_failed":
            return f"the key of {name} cannot be decrypted", "Add it anew: `odradek provider add`."
        case "placeholder_key":
            return f"{name} wants a key and has none", "Add it: `odradek provider add`."
        case "missing_model_id":
            return "no model is chosen", "Choose one: `odradek model set`."
        case "personal_provider_required":
            return "you need a provider of your own here", "Set one up: `odradek provider add --user`."
        case _:
            assert_never(code)
