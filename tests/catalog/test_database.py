"""The connection: what counts as an outage that passes, and what as a mistake."""

import asyncio

import pytest
from sqlalchemy import update

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
