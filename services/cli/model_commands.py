"""What `odradek model` does."""

import json
import sys
from collections.abc import Sequence

from services.catalog.catalog import open_catalog
from services.catalog.choices import choose_model, fallback_target, find_model, override_model, set_fallbacks
from services.catalog.overview import models_of, providers_of
from services.catalog.owners import Owner
from services.catalog.tables import Llm
from services.cli.catalog_arguments import discord_id, owner_of, provider_of, server_of
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_SHOWN = {
    "is_default": "default",
    "is_smartest": "smartest",
    "has_tools": "tools",
    "sees_images": "images",
    "sees_videos": "videos",
    "sees_youtube": "youtube",
    "supports_structured_output": "structured",
    "is_reasoning": "reasoning",
    "is_free": "free",
    "is_uncensored": "uncensored",
    "is_deprecated": "deprecated",
    "strict_role_alternation": "alternation",
    "supports_prefix_completion": "prefix",
    "verbatim_tool_calling": "verbatim-tools",
}


def show(*, provider: str | None, deprecated: bool, as_json: bool) -> None:
    """Print a line a model."""
    settings = load_settings()
    rows = run(settings, _models(settings, None if provider is None else provider_of(provider), deprecated))
    if as_json:
        print(json.dumps([_values(row) for row in rows], indent=2))
        return
    for row in rows:
        can = " ".join(word for name, word in _SHOWN.items() if getattr(row, name))
        print(printable(f"{row.provider}\t{row.codename}\t{can}").replace("\\t", "\t"))


async def _models(settings: Settings, provider: str | None, deprecated: bool) -> list[Llm]:
    async with open_catalog(settings) as catalog, catalog.database.reading() as session:
        return await models_of(session, provider, deprecated=deprecated)


def _values(row: Llm) -> dict[str, object]:
    return {column.key: getattr(row, column.key) for column in Llm.__table__.columns}


def choose(
    provider: str, codename: str, *, server: str | None, user: str | None, channel: str | None, persona: str | None
) -> None:
    """Choose the model for its place, and say so."""
    settings, name = load_settings(), provider_of(provider)
    if channel is None and persona is None:
        owner = owner_of(server, user)
        run(settings, _choose(settings, owner, name, codename))
        print(printable(f"{owner} is answered by {codename} of {name}"))
        return
    if user is not None:
        raise ConfigurationError("channels and personas belong to a server", remedy="Leave out --user.")
    run(settings, _override(settings, server, (name, codename), channel=channel, persona=persona))
    place = f"channel {channel}" if channel is not None else f"persona {persona}"
    print(printable(f"{place} is answered by {codename} of {name}"))


async def _choose(settings: Settings, owner: Owner, provider: str, codename: str) -> None:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        await choose_model(session, owner, await find_model(session, provider, codename))


def unset(*, server: str | None, channel: str | None, persona: str | None) -> None:
    """Take the override away."""
    settings = load_settings()
    run(settings, _override(settings, server, None, channel=channel, persona=persona))
    print("the override is gone")


async def _override(
    settings: Settings, server: str | None, model: tuple[str, str] | None, *, channel: str | None, persona: str | None
) -> None:
    place = server_of(server)
    channel = None if channel is None else discord_id("--channel", channel)
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        llm = None if model is None else await find_model(session, *model)
        await override_model(session, place, llm, channel=channel, persona=persona)


def fallback(models: Sequence[str], *, server: str | None, user: str | None) -> None:
    """Replace the chain, and say what it is."""
    settings, owner = load_settings(), owner_of(server, user)
    pairs = [_pair(model) for model in models]
    missing = run(settings, _fallback(settings, owner, pairs))
    print(printable(f"{owner}: {' -> '.join(models)}" if models else f"{owner}: no fallback models"))
    for provider in missing:
        text = f"warning: {provider} is not set up there, so its models are skipped until `odradek provider add` did it"
        print(printable(text), file=sys.stderr)


async def _fallback(settings: Settings, owner: Owner, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Replaces the chain; returns the providers in it that the owner has not set up."""
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        rows = [await find_model(session, *pair) for pair in pairs]
        await set_fallbacks(session, owner, [await fallback_target(session, owner, row) for row in rows])
        there = {view.provider for view in await providers_of(session, owner)}
        return list(dict.fromkeys(provider for provider, _ in pairs if provider not in there))


def _pair(text: str) -> tuple[str, str]:
    provider, equals, codename = text.partition("=")
    if not equals:
        raise ConfigurationError(f"{text[:80]!r} names no model", remedy="Give PROVIDER=CODENAME.")
    return provider_of(provider), codename
