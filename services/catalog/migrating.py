"""Bringing the database's schema to a revision, forwards or back, in one transaction.

Two processes that do it at once take turns: SQLite by the write lock that the transaction begins with, PostgreSQL by an
advisory lock.
"""

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from services.catalog.errors import NoSuchRow, SchemaMismatch

_LOCK = 0x6F647261  # any number that nothing else in the database locks


def head() -> str:
    """The newest revision that this code knows."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise AssertionError("the package ships without migrations")
    return revision


def revisions() -> tuple[str, ...]:
    """All revisions, the oldest first."""
    return tuple(reversed([script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]))


def current(connection: Connection) -> str | None:
    """The database's revision; None for one without tables."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run what is missing up to the revision; raises NoSuchRow for one that does not exist."""
    _require_known(revision)
    _lock(connection)
    _refuse_newer(connection)
    try:
        command.upgrade(_config(connection), revision)
    except CommandError:
        raise _unknown(revision) from None


def downgrade(connection: Connection, revision: str) -> None:
    """Undo what came after the revision; `base` undoes all. What the dropped columns held is gone."""
    _require_known(revision)
    _lock(connection)
    _refuse_newer(connection)
    try:
        command.downgrade(_config(connection), revision)
    except CommandError:
        raise _unknown(revision) from None


def require_head(connection: Connection) -> None:
    """Raises SchemaMismatch where the database is not as this code needs it."""
    _refuse_newer(connection)
    found = current(connection)
    if found != head():
        raise SchemaMismatch(
            f"the catalog's database is at {found or 'no revision'}, but this code needs {head()}",
            remedy="Run `odradek catalog upgrade`.",
        )


def _refuse_newer(connection: Connection) -> None:
    found = current(connection)
    if found is not None and found not in revisions():
        raise SchemaMismatch(
            f"the catalog's database is at {found}, which this code does not know",
            remedy="Run the newer code, or use its `odradek catalog downgrade` first.",
        )


def _require_known(revision: str) -> None:
    """Alembic has a language for revisions, and asserts where it reads what is none."""
    if revision not in ("head", "base", *revisions()):
        raise _unknown(revision)


def _unknown(revision: str) -> NoSuchRow:
    return NoSuchRow(
        f"there is no way to revision {revision[:80]!r}", remedy=f"Known are: {', '.join(('base', *revisions()))}."
    )


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "services.catalog:migrations")
    config.attributes["connection"] = connection
    return config
