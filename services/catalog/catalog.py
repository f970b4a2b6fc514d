"""Opening the catalog: its database at the revision that this code needs, its secrets, and seeds that keep the rules."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.catalog import migrating
from services.catalog.checking import collect_violations
from services.catalog.database import Database
from services.catalog.errors import SchemaMismatch, SeedsBroken
from services.catalog.sealing import Keyring
from services.catalog.seeding import write_seeds
from services.catalog.seeds import SEEDS
from services.runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Catalog:
    """An open catalog. What is done with it is functions over these two."""

    database: Database = field(repr=False)
    keyring: Keyring = field(repr=False)


@asynccontextmanager
async def open_catalog(settings: Settings) -> AsyncGenerator[Catalog]:
    """The catalog of the settings, until the end of the block.

    A SQLite file is made or brought up to date by the way, since one machine runs one version of the code. PostgreSQL is
    not: there a SchemaMismatch says that somebody must run `odradek catalog upgrade`. Raises NoCryptoSecret, SeedsBroken,
    ConfigurationError, or Unavailable where the database is away.
    """
    require_good_seeds()
    keyring = Keyring(settings.crypto_secrets, settings.crypto_secret_current)
    async with Database(settings.database_url) as database:
        if database.is_sqlite:
            await bring_up_to_date(database)
        else:
            async with database.migrating() as connection:
                await connection.run_sync(migrating.require_head)
        yield Catalog(database, keyring)


async def bring_up_to_date(database: Database, revision: str = "head") -> None:
    """Run the migrations up to the revision; at the newest one write the seeds too."""
    async with database.migrating() as connection:
        await connection.run_sync(migrating.upgrade, revision)
        is_newest = await connection.run_sync(migrating.current) == migrating.head()
    if is_newest:
        async with database.writing() as session:
            await write_seeds(session)


async def require_up_to_date(database: Database) -> None:
    """Raises SchemaMismatch where the database is not at this code's revision, or not there; makes no file."""
    if not database.is_there:
        raise SchemaMismatch(
            "the catalog's database is not there yet",
            remedy="Run `odradek catalog upgrade`, or name another one by ODRADEK_DATABASE_URL.",
        )
    async with database.reading() as session:
        await (await session.connection()).run_sync(migrating.require_head)


def require_good_seeds() -> None:
    """Raises SeedsBroken where the models that ship with this code break a rule."""
    if violations := collect_violations(SEEDS):
        raise SeedsBroken("\n".join(str(violation) for violation in violations))
