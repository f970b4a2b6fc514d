"""What servers and people have set of how models generate, in the database: parameters, and a server's stop strings.

A change reads what is there, locked, and writes it anew, so two processes that change at once lose nothing.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never, cast

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.database import insert_into
from services.catalog.errors import not_set_up
from services.catalog.owners import Owner, Person, Server
from services.catalog.parameters import Changes, changed
from services.catalog.stop_strings import added, removed, usable
from services.catalog.tables import SavedProviderConfig, ServerConfig, UserSavedProviderConfig


async def parameters_of(session: AsyncSession, owner: Owner, provider: str) -> Mapping[str, object]:
    """What the owner has set for the provider, by name. Raises NoSuchRow where the provider is not set up."""
    return _readable((await _saved(session, owner, provider)).options)


async def change_parameters(
    session: AsyncSession, owner: Owner, provider: str, changes: Changes
) -> Mapping[str, object]:
    """Change what the owner has set for the provider; returns all that is set then.

    Raises NoSuchRow where the provider is not set up, Refused for a number that is out of its range.
    """
    row = await _saved(session, owner, provider)
    row.options = changed(_readable(row.options), changes)
    await session.flush()
    return row.options


async def stop_strings_of(session: AsyncSession, server: Server) -> list[str]:
    """The server's stop strings in their order, which is that in which they were added."""
    config = await session.get(ServerConfig, server.id)
    return [] if config is None else usable(config.llm_stop_strings)


async def change_stop_strings(
    session: AsyncSession, server: Server, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> list[str]:
    """Remove and add stop strings; returns all that there are then.

    Raises Refused where they are too many, NoSuchRow for one to be removed that is not there.
    """
    await session.execute(insert_into(session, ServerConfig).values(server_id=server.id).on_conflict_do_nothing())
    config = await session.get_one(ServerConfig, server.id, with_for_update=True)
    config.llm_stop_strings = added(removed(usable(config.llm_stop_strings), remove), add)
    await session.flush()
    return config.llm_stop_strings


def _readable(options: object) -> Mapping[str, object]:
    """The options, none where what stands there is no object: somebody may have edited it there."""
    return cast(Mapping[str, object], options) if isinstance(options, dict) else {}


async def _saved(session: AsyncSession, owner: Owner, provider: str) -> SavedProviderConfig | UserSavedProviderConfig:
    """The provider's configuration, locked until the transaction ends."""
    match owner:
        case Server(id=server):
            mine = select(SavedProviderConfig).filter_by(server_id=server, provider=provider)
            row = await session.scalar(mine.with_for_update())
        case Person(id=user):
            own = select(UserSavedProviderConfig).filter_by(user_id=user, provider=provider)
            row = await session.scalar(own.with_for_update())
        case _:
            assert_never(owner)
    if row is None:
        raise not_set_up(provider)
    return row
