"""The connection to the catalog's database, SQLite or PostgreSQL, and its two kinds of transactions.

A writing transaction holds what it has read until it ends: SQLite lets in one writer at a time from the transaction's
begin on, and on PostgreSQL the rows that it reads to change are locked (`with_for_update`). So two processes lose nothing
of each other's.
"""

import json
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from services.catalog.tables import Table
from services.runtime.errors import ConfigurationError, Unavailable

_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
_LOCK_WAIT_MS = 10_000
_CONNECT_S = 10
_COMMAND_S = 30
_WRITES = "odradek_writes"
# Connections, resources, the operator's intervention, the system; a role or a database that is not there (yet); and a
# transaction that gave way to another one, which may be made again.
_OUTAGES = frozenset({"08", "53", "57", "58", "28", "3D", "40"})

_WRITABLE = (
    "Commands write into the file and its folder, also where they only read: let the user who runs them write there, "
    "and mount it so."
)
_TOLD = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room where ODRADEK_DATABASE_URL says that the file is."),
    sqlite3.SQLITE_IOERR: (
        "its file cannot be read or written",
        "See whether the disk is full or broken where ODRADEK_DATABASE_URL says that the file is.",
    ),
    sqlite3.SQLITE_READONLY: ("its file cannot be written to", _WRITABLE),
    sqlite3.SQLITE_CANTOPEN: ("its file cannot be opened", _WRITABLE),
    sqlite3.SQLITE_BUSY: ("another process writes into it", "Try again when that is done."),
}
_TOLD_ELSE = ("it cannot be used", "See whether ODRADEK_DATABASE_URL is right and the database runs.")
"""What is wrong, by SQLite's primary code, and what to do."""


class Database:
    """The catalog's database. `close` it, or use it as an async context manager."""

    def __init__(self, url: SecretStr) -> None:
        """Connects when first used. Raises ConfigurationError for a URL of another kind, which it does not show."""
        self._engine = _engine(_parsed(url))
        self._reads = async_sessionmaker(self._engine, expire_on_commit=False)
        self._writes = async_sessionmaker(self._writer, expire_on_commit=False)

    async def __aenter__(self) -> "Database":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a file of one machine."""
        return self._engine.dialect.name == "sqlite"

    @property
    def is_there(self) -> bool:
        """Whether it can hold anything: False for a SQLite file that is missing or empty, which looking into would make."""
        name = self._engine.url.database
        if not self.is_sqlite or not name or name.startswith((":", "file:")):
            return True
        return Path(name).is_file() and Path(name).stat().st_size > 0

    @property
    def _writer(self) -> AsyncEngine:
        return self._engine.execution_options(**{_WRITES: True})

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncSession]:
        """A session that reads; raises Unavailable where the database is away."""
        async with _outages(), self._reads() as session:
            yield session

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncSession]:
        """A session that is committed at the end, or rolled back by an error; raises Unavailable as `reading` does."""
        async with _outages(), self._writes() as session, session.begin():
            yield session

    @asynccontextmanager
    async def migrating(self) -> AsyncGenerator[AsyncConnection]:
        """A connection in a writing transaction, for changes of the schema."""
        async with _outages(), self._writer.begin() as connection:
            yield connection

    async def close(self) -> None:
        """Closes all connections."""
        await self._engine.dispose()


def insert_into(session: AsyncSession, table: type[Table]) -> "sqlite.Insert | postgresql.Insert":
    """An INSERT that knows ON CONFLICT, as the session's database says it."""
    name = session.get_bind().dialect.name
    return sqlite.insert(table) if name == "sqlite" else postgresql.insert(table)


@asynccontextmanager
async def _outages() -> AsyncGenerator[None]:
    """Names an outage by the class of its error alone: the text may quote the URL, and so a password."""
    try:
        yield
    except (DBAPIError, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(error, DBAPIError) and not _is_outage(error):
            raise
        name = type(getattr(cause, "__cause__", None) or cause).__name__
        what, remedy = _TOLD.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, _TOLD_ELSE)
        raise Unavailable("the catalog's database", f"{what} ({name})", remedy=remedy) from None


def _is_outage(error: DBAPIError) -> bool:
    """Whether the database is away, and not the statement wrong.

    https://www.sqlite.org/rescode.html, https://www.postgresql.org/docs/current/errcodes-appendix.html
    """
    if isinstance(error, InterfaceError) or error.connection_invalidated:
        return True
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return isinstance(error, OperationalError) and code & 0xFF != sqlite3.SQLITE_ERROR
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state is not None and state[:2] in _OUTAGES


def _parsed(url: SecretStr) -> URL:
    accepted = "ODRADEK_DATABASE_URL takes sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/NAME."
    try:
        parsed = make_url(url.get_secret_value().strip())
    except ArgumentError:
        raise ConfigurationError("ODRADEK_DATABASE_URL is no URL of a database", remedy=accepted) from None
    driver = _DRIVERS.get(parsed.drivername)
    if driver is None:
        raise ConfigurationError("ODRADEK_DATABASE_URL names a database of another kind", remedy=accepted)
    if parsed.drivername == "sqlite" and not Path(parsed.database or "").parent.is_dir():
        raise ConfigurationError("ODRADEK_DATABASE_URL names a file in a folder that is not there", remedy=accepted)
    return parsed.set(drivername=driver)


def _engine(url: URL) -> AsyncEngine:
    if url.get_backend_name() == "postgresql":
        limits = {"timeout": _CONNECT_S, "command_timeout": _COMMAND_S}
        return create_async_engine(url, hide_parameters=True, pool_pre_ping=True, connect_args=limits)
    engine = create_async_engine(url, hide_parameters=True, json_deserializer=_from_json)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _from_json(text: str) -> object:
    """None for what is no JSON: SQLite keeps whatever somebody writes into a column, and PostgreSQL does not."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver begins no transactions of its own, so that schema changes roll back
    cursor = connection.cursor()
    for pragma in ("foreign_keys = ON", f"busy_timeout = {_LOCK_WAIT_MS}", "journal_mode = WAL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
