"""What `odradek endpoint` does."""

import json
import sys

from pydantic import SecretStr

from services.catalog.catalog import open_catalog
from services.catalog.choices import choose_model
from services.catalog.endpoint import Endpoint
from services.catalog.endpoints import SavedEndpoint, base_url, endpoints_of, remove_endpoint, save_endpoint
from services.catalog.keys import save_key
from services.catalog.overview import chosen_model
from services.catalog.owners import Owner
from services.catalog.tables import CustomEndpoint, Llm
from services.cli.catalog_arguments import owner_of, read_key
from services.cli.endpoint_places import check_place
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.settings import Settings


def add(endpoint: Endpoint, *, server: str | None, user: str | None, key_env: str | None) -> None:
    """Save the endpoint with its key, and choose its model where none is chosen."""
    settings, owner = load_settings(), owner_of(server, user)
    unsure = run(settings, check_place(owner, base_url(endpoint.url), settings))
    key = read_key(key_env) if endpoint.requires_auth else None
    saved = run(settings, _add(settings, owner, endpoint, key))
    print(printable(f"{saved.provider}: endpoint {endpoint.label.strip().lower()} of {owner}"))
    if unsure is not None:
        print(f"warning: {unsure}", file=sys.stderr)
    for flag in sorted(saved.ignored):
        print(f"warning: {flag} is not offered for the style {endpoint.style}, so it stays as it is", file=sys.stderr)


async def _add(settings: Settings, owner: Owner, endpoint: Endpoint, key: SecretStr | None) -> SavedEndpoint:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        saved = await save_endpoint(session, owner, endpoint)
        await save_key(session, catalog.keyring, owner, saved.provider, key)
        if await chosen_model(session, owner) is None:
            await choose_model(session, owner, await session.get_one(Llm, saved.llm_id))
        return saved


def show(*, server: str | None, user: str | None, as_json: bool) -> None:
    """Print a line an endpoint."""
    settings, owner = load_settings(), owner_of(server, user)
    rows = run(settings, _endpoints(settings, owner))
    if as_json:
        columns = [column.key for column in CustomEndpoint.__table__.columns]
        print(json.dumps([{name: getattr(row, name) for name in columns} for row in rows], indent=2))
        return
    for row in rows:
        print(printable(f"custom:{row.id} {row.label}: {row.model_name} at {row.endpoint_url} ({row.api_style})"))
    if not rows:
        print(f"{owner} has no endpoint")


async def _endpoints(settings: Settings, owner: Owner) -> list[CustomEndpoint]:
    async with open_catalog(settings) as catalog, catalog.database.reading() as session:
        return await endpoints_of(session, owner)


def remove(label: str, *, server: str | None, user: str | None) -> None:
    """Remove the endpoint, and say so."""
    settings, owner = load_settings(), owner_of(server, user)
    run(settings, _remove(settings, owner, label))
    print(printable(f"{label} of {owner} is gone"))


async def _remove(settings: Settings, owner: Owner, label: str) -> None:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        await remove_endpoint(session, owner, label)
