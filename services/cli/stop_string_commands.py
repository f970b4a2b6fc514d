"""What `odradek model stop-strings` does."""

import json
from collections.abc import Sequence

from services.catalog.catalog import open_catalog
from services.catalog.owners import Server
from services.catalog.stop_strings import escaped, unescaped
from services.catalog.tuning import change_stop_strings, stop_strings_of
from services.cli.catalog_arguments import server_of
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.settings import Settings


def show(*, server: str | None, as_json: bool) -> None:
    """Print a line a stop string."""
    settings, owner = load_settings(), server_of(server)
    held = run(settings, _held(settings, owner))
    if as_json:
        print(json.dumps(held, indent=2))
    else:
        _print(owner, held)


async def _held(settings: Settings, server: Server) -> list[str]:
    async with open_catalog(settings) as catalog, catalog.database.reading() as session:
        return await stop_strings_of(session, server)


def change(*, server: str | None, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
    """Add or remove, and print what there is then."""
    settings, owner = load_settings(), server_of(server)
    more, gone = [unescaped(text) for text in add], [unescaped(text) for text in remove]
    _print(owner, run(settings, _changed(settings, owner, more, gone)))


async def _changed(settings: Settings, server: Server, add: Sequence[str], remove: Sequence[str]) -> list[str]:
    async with open_catalog(settings) as catalog, catalog.database.writing() as session:
        return await change_stop_strings(session, server, add=add, remove=remove)


def _print(server: Server, held: Sequence[str]) -> None:
    for text in held:
        print(printable(escaped(text)))
    if not held:
        print(f"{server} has no stop strings")
