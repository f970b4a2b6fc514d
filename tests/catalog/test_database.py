"""The connection: what counts as an outage that passes, and what as a mistake."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import text, update

from services.catalog.database import Database
from services.catalog.tables import Llm
from services.runtime.errors import Unavailable


async def test_of_two_transactions_that_wait_for_each_other_one_is_told_to_come_again(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite lets in one writer at a time")
    both_hold = asyncio.Barrier(2)

    async def change(first: int, second: int) -> str:
        try:
            async with database.writing() as session:
                await session.execute(update(Llm).where(Llm.id == first).values(is_free=True))
                await both_hold.wait()
                await session.execute(update(Llm).where(Llm.id == second).values(is_free=True))
        except Unavailable:
            return "again"
        return "done"

    outcomes = await asyncio.gather(change(1, 2), change(2, 1))
    assert sorted(outcomes) == ["again", "done"]


async def written(database: Database, *statements: str) -> None:
    async with database.writing() as session:
        for statement in statements:
            await session.execute(text(statement))


@pytest.mark.parametrize(
    ("statements", "told", "remedy"),
    [
        (("PRAGMA max_page_count = 3", "INSERT INTO a VALUES (zeroblob(1000000))"), "the disk is full", "Make room"),
        (("PRAGMA query_only = ON", "INSERT INTO a VALUES (1)"), "its file cannot be written to", "mount it so"),
        (
            ("ATTACH DATABASE '/nowhere/catalog.db' AS other",),
            "its file cannot be opened",
            "let the user who runs them",
        ),
    ],
    ids=["full", "read-only", "not-opened"],
)
async def test_what_is_wrong_with_a_file_is_told_with_what_to_do(
    tmp_path: Path, statements: tuple[str, ...], told: str, remedy: str
) -> None:
    async with Database(SecretStr(f"sqlite:///{tmp_path}/catalog.db")) as database:
        await written(database, "CREATE TABLE a (b BLOB)")
        with pytest.raises(Unavailable, match=told) as error:
            await written(database, *statements)
    assert remedy in error.value.remedy
