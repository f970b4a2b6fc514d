"""What `odradek catalog` does."""

import json
from dataclasses import asdict

import typer

from services.catalog import migrating
from services.catalog.catalog import bring_up_to_date, require_up_to_date
from services.catalog.checking import Violation, collect_violations
from services.catalog.database import Database
from services.catalog.seeding import seeded_rows
from services.catalog.seeds import SEEDS
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.settings import Settings


def check(*, with_database: bool, as_json: bool) -> None:
    """Print each violation; exits with 1 where there is one."""
    found = collect_violations(SEEDS)
    if with_database:
        settings = load_settings()
        found += run(settings, _database_violations(settings))
    if as_json:
        print(json.dumps([asdict(violation) for violation in found], indent=2))
    else:
        for violation in found:
            print(printable(str(violation)))
        if not found:
            models = sum(len(rows) for rows in SEEDS.values())
            place = "seeds and database keep" if with_database else "seeds keep"
            print(f"{models} models of {len(SEEDS)} providers: {place} every rule")
    if found:
        raise typer.Exit(1)


async def _database_violations(settings: Settings) -> list[Violation]:
    async with Database(settings.database_url) as database:
        await require_up_to_date(database)
        async with database.reading() as session:
            return collect_violations(await seeded_rows(session))


def upgrade(revision: str) -> None:
    """Bring the database up to the revision and say where it was and is."""
    settings = load_settings()
    before, after = run(settings, _upgraded(settings, revision))
    print(f"{after}: nothing to do but the seeds" if before == after else f"{before or 'an empty database'} -> {after}")


async def _upgraded(settings: Settings, revision: str) -> tuple[str | None, str | None]:
    async with Database(settings.database_url) as database:
        before = await _revision(database)
        await bring_up_to_date(database, revision)
        return before, await _revision(database)


def downgrade(revision: str) -> None:
    """Bring the database back to the revision and say where it was and is."""
    settings = load_settings()
    before, after = run(settings, _downgraded(settings, revision))
    print(f"{before or 'an empty database'} -> {after or 'an empty database'}")


async def _downgraded(settings: Settings, revision: str) -> tuple[str | None, str | None]:
    async with Database(settings.database_url) as database:
        before = await _revision(database)
        async with database.migrating() as connection:
            await connection.run_sync(migrating.downgrade, revision)
        return before, await _revision(database)


async def _revision(database: Database) -> str | None:
    async with database.migrating() as connection:
        return await connection.run_sync(migrating.current)
