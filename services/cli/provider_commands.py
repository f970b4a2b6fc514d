"""What `odradek provider` does."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from pydantic import SecretStr

from services.catalog.catalog import open_catalog
from services.catalog.choices import choose_model, find_model, remove_provider, set_policy
from services.catalog.keys import add_pooled_key, purge_pool, save_key
from services.catalog.overview import (
    ProviderView,
    chosen_model,
    default_model,
    policy_of,
    providers_of,
)
from services.catalog.owners import Owner, Person, Server
from services.cli.catalog_arguments import owner_of, provider_of, read_key, server_of
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings


def add(name: str, *, server: str | None, user: str | None, key_env: str | None, model: str | None, pool: bool) -> None:
    """Keep the key, and choose a model where none is chosen."""
    settings, owner, provider = load_settings(), owner_of(server, user), provider_of(name)
    if pool and isinstance(owner, Person):
        raise ConfigurationError("a person's keys do not rotate", remedy="Leave out --pool, or name a server.")
    if pool and model is not None:
        raise ConfigurationError("a key of the pool chooses no model", remedy="Leave out --model.")
    key = read_key(key_env)
    if pool and isinstance(owner, Server):
        run(settings, _add_pooled(settings, owner, provider, key))
        print(f"{provider}: another key in the pool of server {owner.id}")
        return
    chosen = run(settings, _add(settings, owner, provider, key, model))
    print(f"{provider}: set up for {owner}" + (f", with the model {printable(chosen)}" if chosen else ""))


async def _add_pooled(settings: Settings, server: Server, provider: str, key: SecretStr) -> None:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        await add_pooled_key(session, catalog.keyring, server, provider, key)


async def _add(settings: Settings, owner: Owner, provider: str, key: SecretStr, model: str | None) -> str | None:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        await save_key(session, catalog.keyring, owner, provider, key)
        if model is None and await chosen_model(session, owner) is not None:
            return None
        llm = await default_model(session, provider) if model is None else await find_model(session, provider, model)
        await choose_model(session, owner, llm)
        return llm.codename


def show(*, server: str | None, user: str | None, as_json: bool) -> None:
    """Print a line a provider."""
    settings, owner = load_settings(), owner_of(server, user)
    views = run(settings, _views(settings, owner))
    if as_json:
        print(json.dumps([asdict(view) for view in views], indent=2))
        return
    for view in views:
        print(printable(_line(view)))
    if not views:
        print(f"{owner} has set up no provider")


async def _views(settings: Settings, owner: Owner) -> list[ProviderView]:
    async with open_catalog(settings) as catalog, catalog.database.reading() as session:
        return await providers_of(session, owner)


def _line(view: ProviderView) -> str:
    key = "a project and location" if view.provider == "vertex" else "a key"
    parts = [view.provider, key if view.has_key else "no key"]
    if view.pooled_keys:
        parts.append(f"{view.pooled_keys} more in the pool")
    if view.model is not None:
        parts.append(f"model {view.model}")
    return ", ".join(parts)


def remove(name: str, *, server: str | None, user: str | None, pool: bool) -> None:
    """Forget the provider, or its pool."""
    settings, owner, provider = load_settings(), owner_of(server, user), provider_of(name)
    if not pool:
        run(settings, _removed(settings, owner, provider))
        print(f"{provider}: forgotten for {owner}")
        return
    if isinstance(owner, Person):
        raise ConfigurationError("a person has no pool", remedy="Leave out --pool, or name a server.")
    gone = run(settings, _purged(settings, owner, provider))
    print(f"{provider}: {gone} {'key' if gone == 1 else 'keys'} of the pool forgotten for {owner}")


async def _removed(settings: Settings, owner: Owner, provider: str) -> None:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        await remove_provider(session, owner, provider)


async def _purged(settings: Settings, server: Server, provider: str) -> int:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        return await purge_pool(session, server, provider)


def policy(*, server: str | None, changes: Mapping[str, bool | None]) -> None:
    """Change what is given, and print what holds."""
    settings, owner = load_settings(), server_of(server)
    given = {name: value for name, value in changes.items() if value is not None}
    for name, value in run(settings, _policy(settings, owner, given)).items():
        print(f"{name}: {'on' if value else 'off'}")


async def _policy(settings: Settings, server: Server, given: Mapping[str, bool]) -> dict[str, bool]:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        if given:
            await set_policy(session, server, **given)
        return await policy_of(session, server)
