"""The schema forwards and back, on SQLite and on PostgreSQL, with rows of before in it."""

import asyncio
import traceback
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from pydantic import SecretStr
from sqlalchemy import Connection, inspect, text

from services.catalog import migrating
from services.catalog.database import Database
from services.catalog.errors import NoSuchRow, SchemaMismatch
from services.catalog.tables import ServerConfig, Table
from services.runtime.errors import ConfigurationError, Unavailable

STRICT_FLAGS = "025_strict_chat_compat_flags"
BEFORE = "003_key_rotation"


async def migrate(database: Database, revision: str) -> None:
    async with database.migrating() as connection:
        await connection.run_sync(migrating.upgrade, revision)


async def undo(database: Database, revision: str) -> None:
    async with database.migrating() as connection:
        await connection.run_sync(migrating.downgrade, revision)


async def execute(database: Database, statement: str) -> None:
    async with database.writing() as session:
        await session.execute(text(statement))


async def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    async with database.reading() as session:
        return [tuple(row) for row in await session.execute(text(query))]


async def test_the_migrations_make_the_tables_that_the_code_reads(empty_database: Database) -> None:
    await migrate(empty_database, "head")

    def differences(connection: Connection) -> list[object]:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), Table.metadata)

    async with empty_database.migrating() as connection:
        assert await connection.run_sync(differences) == []
        await connection.run_sync(migrating.require_head)


async def test_every_revision_can_be_undone_and_done_again(empty_database: Database) -> None:
    for revision in migrating.revisions():
        await migrate(empty_database, revision)
    for revision in (*reversed(migrating.revisions()[:-1]), "base"):
        await undo(empty_database, revision)

    async with empty_database.migrating() as connection:
        assert await connection.run_sync(lambda sync: set(inspect(sync).get_table_names())) <= {"alembic_version"}
    await migrate(empty_database, "head")


async def test_the_strict_flags_are_backfilled_for_the_providers_that_demand_them(empty_database: Database) -> None:
    await migrate(empty_database, BEFORE)
    await execute(
        empty_database,
        "INSERT INTO custom_endpoints (server_id, label, api_style, endpoint_url, model_name) "
        "VALUES ('1', 'home', 'openai-compatible', 'https://llm.example/v1', 'm')",
    )
    providers = ("anthropic", "deepseek", "zai", "zaicoding", "google", "openrouter", "nvidia", "custom:1")
    for provider in providers:
        await execute(empty_database, f"INSERT INTO llms (provider, codename) VALUES ('{provider}', 'old')")

    await migrate(empty_database, STRICT_FLAGS)

    flags = "strict_role_alternation, supports_prefix_completion"
    found = {
        row[0]: (bool(row[1]), bool(row[2]))
        for row in await rows(empty_database, f"SELECT provider, {flags} FROM llms")
    }
    assert found == {
        "anthropic": (True, False),
        "deepseek": (False, True),
        "zai": (False, True),
        "zaicoding": (False, True),
        "google": (False, False),
        "openrouter": (False, False),
        "nvidia": (False, False),
        "custom:1": (False, False),
    }
    [endpoint] = await rows(empty_database, f"SELECT {flags} FROM custom_endpoints")
    assert [bool(flag) for flag in endpoint] == [False, False]


async def test_undoing_the_strict_flags_keeps_every_other_value_of_the_rows(empty_database: Database) -> None:
    await migrate(empty_database, "head")
    await execute(empty_database, "INSERT INTO llms (id, provider, codename, has_tools) VALUES (7, 'zai', 'x', true)")
    await execute(empty_database, "INSERT INTO server_configs (server_id, llm_id) VALUES ('1', 7)")

    await undo(empty_database, BEFORE)

    assert await rows(empty_database, "SELECT id, provider, codename FROM llms WHERE has_tools") == [(7, "zai", "x")]
    assert await rows(empty_database, "SELECT server_id, llm_id FROM server_configs") == [("1", 7)]
    await migrate(empty_database, "head")
    [(prefix,)] = await rows(empty_database, "SELECT supports_prefix_completion FROM llms")
    assert prefix


async def test_servers_of_before_have_no_stop_strings_and_undoing_them_keeps_the_rest(
    empty_database: Database,
) -> None:
    await migrate(empty_database, "085_personal_server_fallback")
    await execute(empty_database, "INSERT INTO server_configs (server_id, tool_use_enabled) VALUES ('1', false)")

    await migrate(empty_database, "086_stop_strings")

    async with empty_database.writing() as session:
        config = await session.get_one(ServerConfig, "1")
        assert (config.llm_stop_strings, config.llm_stop_speaker_pattern_enabled) == ([], False)
        config.llm_stop_strings = ["###"]
    await undo(empty_database, "085_personal_server_fallback")
    assert await rows(empty_database, "SELECT server_id FROM server_configs WHERE NOT tool_use_enabled") == [("1",)]
    await migrate(empty_database, "head")
    async with empty_database.reading() as session:
        assert (await session.get_one(ServerConfig, "1")).llm_stop_strings == []


async def test_a_migration_that_fails_leaves_the_schema_as_it_was(empty_database: Database) -> None:
    await migrate(empty_database, BEFORE)
    await execute(empty_database, "ALTER TABLE llms ADD COLUMN supports_prefix_completion INTEGER")

    with pytest.raises(Exception, match="supports_prefix_completion"):
        await migrate(empty_database, "head")

    async with empty_database.migrating() as connection:
        assert await connection.run_sync(migrating.current) == BEFORE
        columns = await connection.run_sync(
            lambda sync: {column["name"] for column in inspect(sync).get_columns("llms")}
        )
    assert "strict_role_alternation" not in columns


async def test_two_processes_that_migrate_at_once_take_turns(database_url: str) -> None:
    async with Database(SecretStr(database_url)) as one, Database(SecretStr(database_url)) as other:
        await asyncio.gather(migrate(one, "head"), migrate(other, "head"))

        async with one.migrating() as connection:
            await connection.run_sync(migrating.require_head)


async def test_older_and_newer_databases_are_refused_with_what_to_do(empty_database: Database) -> None:
    async with empty_database.migrating() as connection:
        with pytest.raises(SchemaMismatch, match="at no revision") as older:
            await connection.run_sync(migrating.require_head)
    assert "odradek catalog upgrade" in older.value.remedy

    await migrate(empty_database, "head")
    await execute(empty_database, "UPDATE alembic_version SET version_num = '999_from_tomorrow'")
    for attempt in (migrate, undo):
        with pytest.raises(SchemaMismatch, match="999_from_tomorrow, which this code does not know"):
            await attempt(empty_database, BEFORE)


async def test_an_unknown_revision_is_refused(empty_database: Database) -> None:
    with pytest.raises(NoSuchRow, match="no way to revision 'nonsense'"):
        await migrate(empty_database, "nonsense")


@pytest.mark.parametrize("url", ["mysql://me:hunter2hunter2@db.example/x", "hunter2hunter2"])
def test_another_kind_of_database_is_refused_without_showing_its_url(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Database(SecretStr(url))
    assert "hunter2" not in f"{refused.value}{refused.value.remedy}"


@pytest.mark.parametrize("name", ["hunter2hunter2@127.0.0.1:1/odradek", "hunter2hunter2@{server}/not-there"])
async def test_a_database_that_is_away_is_unavailable_and_its_password_is_not_shown(
    name: str, postgres_server: str
) -> None:
    url = SecretStr("postgresql://odradek:" + name.format(server=postgres_server.rpartition("@")[2]))
    async with Database(url) as database:
        with pytest.raises(Unavailable, match="the catalog's database is unavailable") as away:
            async with database.reading() as session:
                await session.execute(text("SELECT 1"))
    assert "hunter2" not in "".join(traceback.format_exception(away.value))


def test_a_file_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="a folder that is not there"):
        Database(SecretStr(f"sqlite:///{tmp_path}/no/such/folder/x.db"))
