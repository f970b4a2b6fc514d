"""A custom endpoint of the catalog as a request's target: read, without its key, and without changing the database."""

from services.catalog import migrating
from services.catalog.database import Database
from services.catalog.errors import NoSuchRow, SchemaMismatch
from services.catalog.overview import models_of
from services.catalog.tables import CustomEndpoint
from services.catalog.target import Target
from services.catalog.targets import target_of
from services.cli.environment import load_settings
from services.cli.shell import run
from services.runtime.settings import Settings

_MAKE_ONE = "Run `odradek catalog upgrade`, then `odradek endpoint add`; or set ODRADEK_DATABASE_URL to where one is."


def stored_endpoint(name: str) -> tuple[Target, bool]:
    """The target of the endpoint `custom:N`, and whether it wants a key.

    Raises NoSuchRow where there is none, SchemaMismatch for no database or one of another version, Unavailable where it
    is away.
    """
    settings = load_settings()
    return run(settings, _read(settings, name))


async def _read(settings: Settings, name: str) -> tuple[Target, bool]:
    async with Database(settings.database_url) as database:
        if not database.is_there:
            raise SchemaMismatch("there is no catalog yet", remedy=_MAKE_ONE)
        return await _found(database, name)


async def _found(database: Database, name: str) -> tuple[Target, bool]:
    async with database.reading() as session:
        await (await session.connection()).run_sync(migrating.require_head)
        for llm in await models_of(session, name, deprecated=True):
            endpoint = await session.get(CustomEndpoint, llm.custom_endpoint_id)
            if endpoint is not None:
                return target_of(llm, endpoint), endpoint.requires_auth
    raise NoSuchRow(f"the catalog has no endpoint {name}", remedy="`odradek endpoint list` shows those there are.")
