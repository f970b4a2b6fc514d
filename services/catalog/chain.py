"""The chain of attempts that a turn may take: models in their order, each with the keys that it can be asked with.

A pure function of what the catalog says, of the turn, and of what its earlier attempts met. Which link is next is the
caller's choice. A model whose provider is not set up is skipped; only the first choice fails for it, since answering with
another model would hide that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from schemas.attempts import Chosen, CredentialSource, EarlierAttempt
from schemas.context import GenerationOptions
from services.catalog.errors import FailureKind
from services.catalog.keys import CredentialReference
from services.catalog.rotation import LEAST_POOL, MOST_KEYS_TRIED, PooledKey, free_keys
from services.catalog.sides import CatalogModel, PersonSide, SavedProvider, ServerSide, Turn
from services.catalog.target import Target

Slot = Literal["primary", "channel", "server", "fallback"]
"""Why a model stands in the chain: the turn's first choice, its channel's, its server's, or one of the fallback slots."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One provider call's configuration, which nothing changes afterwards. `number` is that of a fallback slot, from 1.

    `left_out` names the options that were set and cannot be used.
    """

    chosen: Chosen
    target: Target
    credential: CredentialReference | None
    options: GenerationOptions
    slot: Slot
    number: int | None = None
    left_out: tuple[str, ...] = ()

    @property
    def source(self) -> CredentialSource:
        """Whose key it is made with."""
        return self.chosen.source


@dataclass(frozen=True, slots=True)
class Skipped:
    """A model of the chain that cannot be asked, and why."""

    source: CredentialSource
    provider: str
    model: str
    reason: FailureKind


@dataclass(frozen=True, slots=True)
class Chain:
    """The attempts in the order of preference, a model's keys together."""

    attempts: tuple[Attempt, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class CannotAnswer:
    """There is no first choice for the turn, and why: an error that its user must see.

    `nothing_set_up`: neither the turn's server nor its person has set anything up, so that whoever runs the bot may answer.
    """

    source: CredentialSource
    kind: FailureKind
    provider: str = ""
    nothing_set_up: bool = False


_Wanted = tuple[int, Slot, int | None]


@dataclass(frozen=True, slots=True)
class _Link:
    source: CredentialSource
    model: CatalogModel
    saved: SavedProvider
    slot: Slot
    number: int | None
    pool: tuple[PooledKey, ...] = ()


def chain_for(
    turn: Turn, server: ServerSide | None, person: PersonSide | None, models: Mapping[int, CatalogModel], now_ms: int
) -> Chain | CannotAnswer:
    """The chain of the turn: the person's own models if they have chosen one, else the server's."""
    if person is not None and person.provider is not None and not turn.impersonation:
        links = _personal(person, models)
        if server is not None and _may_follow(turn, server):
            server_links = _of_server(turn, server, models)
            if not isinstance(links, CannotAnswer) and not isinstance(server_links, CannotAnswer):
                links = [*links, *server_links]
    elif server is None:
        return CannotAnswer("personal", "personal_provider_required", nothing_set_up=True)
    elif server.user_byok_mode and turn.person is not None and not turn.impersonation:
        return CannotAnswer("personal", "personal_provider_required")
    else:
        links = _of_server(turn, server, models)
    if isinstance(links, CannotAnswer):
        return links
    first = links[0]
    if first.saved.problem is not None:
        return CannotAnswer(first.source, first.saved.problem, first.model.provider)
    usable = [link for link in links if link.saved.problem is None]
    if server is not None and server.randomizes:
        usable = _shuffled(turn, usable)
    attempts = [attempt for link in usable for attempt in _attempts(link, turn.earlier, server, now_ms)]
    return Chain(tuple(attempts), tuple(_skipped(link) for link in links if link.saved.problem is not None))


def _may_follow(turn: Turn, server: ServerSide) -> bool:
    return server.personal_server_fallback and not server.user_byok_mode and turn.server_admitted


def _personal(person: PersonSide, models: Mapping[int, CatalogModel]) -> list[_Link] | CannotAnswer:
    if person.llm_id is None:
        return CannotAnswer("personal", "missing_model_id", person.provider or "")
    wanted: list[_Wanted] = [(person.llm_id, "primary", None)]
    wanted += _slots(person.fallbacks)
    return [
        _Link("personal", model, _saved(person.saved, model), slot, number)
        for model, slot, number in _once(wanted, models)
    ]


def _of_server(turn: Turn, server: ServerSide, models: Mapping[int, CatalogModel]) -> list[_Link] | CannotAnswer:
    overrides = () if turn.impersonation else (server.persona_llm_id, server.channel_llm_id)
    first = next((llm for llm in (*overrides, server.llm_id) if llm is not None), None)
    if first is None:
        return CannotAnswer("server", "missing_model_id", nothing_set_up=not server.saved and not server.user_byok_mode)
    wanted: list[_Wanted] = [(first, "primary", None)]
    if server.channel_llm_id is not None and not turn.impersonation:
        wanted.append((server.channel_llm_id, "channel", None))
    if server.llm_id is not None:
        wanted.append((server.llm_id, "server", None))
    wanted += _slots(server.fallbacks)
    return [
        _Link("server", model, _saved(server.saved, model), slot, number, server.pools.get(model.provider, ()))
        for model, slot, number in _once(wanted, models)
    ]


def _slots(fallbacks: tuple[int, ...]) -> Iterator[_Wanted]:
    for number, llm in enumerate(fallbacks, 1):
        yield llm, "fallback", number


def _once(wanted: list[_Wanted], models: Mapping[int, CatalogModel]) -> Iterator[tuple[CatalogModel, Slot, int | None]]:
    seen: set[int] = set()
    for llm, slot, number in wanted:
        if llm not in seen:
            seen.add(llm)
            yield models[llm], slot, number


def _saved(saved: Mapping[str, SavedProvider], model: CatalogModel) -> SavedProvider:
    return saved.get(model.provider, SavedProvider(None, "no_saved_config"))


def _shuffled(turn: Turn, links: list[_Link]) -> list[_Link]:
    """One of the server's models goes before its others: chosen by the turn's id, so the same at each look."""
    own = [link for link in links if link.source == "server"]
    if not own:
        return links
    lucky = own[int.from_bytes(sha256(turn.id.encode()).digest()[:8]) % len(own)]
    others = [link for link in links if link.source != "server"]
    return [*others, lucky, *(link for link in own if link is not lucky)]


def _attempts(
    link: _Link, earlier: tuple[EarlierAttempt, ...], server: ServerSide | None, now_ms: int
) -> Iterator[Attempt]:
    for reference in _keys(link, earlier, now_ms):
        yield _attempt(link, reference, server)


def _keys(link: _Link, earlier: tuple[EarlierAttempt, ...], now_ms: int) -> Iterator[CredentialReference | None]:
    """The keys to ask the model with: those of the pool that have not failed in this turn, else the main key.

    The key of the attempt before stays, at the end, since it may be asked once more with less.
    """
    if len(link.pool) < LEAST_POOL:
        yield link.saved.reference
        return
    mine = [one for one in earlier if one.chosen is not None and _is_of(link, one.chosen)]
    failed = {one.chosen.credential for one in mine if one.chosen is not None and one.outcome == "error"}
    free = [CredentialReference("rotation", key.id) for key in free_keys(link.pool, now_ms)]
    fresh = [key for key in free if str(key) not in failed][: max(0, MOST_KEYS_TRIED - len(failed))]
    yield from fresh
    if not fresh and not failed:
        yield link.saved.reference
    last = mine[-1].chosen if mine else None
    known = [CredentialReference("rotation", key.id) for key in link.pool]
    yield from (
        key for key in (*known, link.saved.reference) if last is not None and str(key) == last.credential in failed
    )


def _is_of(link: _Link, chosen: Chosen) -> bool:
    named = (link.source, link.model.provider, link.model.target.model.codename)
    return (chosen.source, chosen.provider, chosen.model) == named


def _attempt(link: _Link, reference: CredentialReference | None, server: ServerSide | None) -> Attempt:
    target = link.model.target
    if link.saved.base_url is not None:
        target = replace(target, base_url=link.saved.base_url)
    if server is not None and server.verbatim_tools:
        target = replace(target, model=replace(target.model, verbatim_tool_calling=True))
    options = link.saved.options if server is None else link.saved.options.model_copy(update=_of_all_models(server))
    chosen = Chosen(
        provider=link.model.provider,
        model=target.model.codename,
        credential="" if reference is None else str(reference),
        source=link.source,
    )
    left_out = link.saved.left_out if server is None else (*link.saved.left_out, *server.left_out)
    return Attempt(chosen, target, reference, options, link.slot, link.number, left_out)


def _of_all_models(server: ServerSide) -> dict[str, object]:
    """The options that a server has for whatever model answers there; what it leaves open is not among them."""
    options: dict[str, object] = {}
    if not server.tools_enabled:
        options["tools_enabled"] = False
    if server.stop_strings:
        options["stop_strings"] = server.stop_strings
    if server.stops_speaker:
        options["speaker_stop"] = True
    return options


def _skipped(link: _Link) -> Skipped:
    reason = link.saved.problem or "no_saved_config"
    return Skipped(link.source, link.model.provider, link.model.target.model.codename, reason)
