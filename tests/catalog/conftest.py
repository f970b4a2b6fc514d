"""Real databases for the catalog: a file of SQLite, and a PostgreSQL server that the run starts for itself."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
from pydantic import SecretStr

from services.catalog import migrating
from services.catalog.database import Database
from services.catalog.seeding import write_seeds
from services.sandbox.brokers.ports import free_port


def _program(name: str) -> Path | None:
    """The program on the path, or where Debian keeps it; the newest version of several."""
    if found := shutil.which(name):
        return Path(found).resolve()
    return max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None)


def _user() -> str | None:
    """Whom to run PostgreSQL as, since it refuses root; None: as ourselves."""
    return "postgres" if os.getuid() == 0 else None


def _missing() -> str:
    if _program("initdb") is None or _program("pg_ctl") is None:
        return "initdb and pg_ctl (apt: postgresql)"
    try:
        if user := _user():
            pwd.getpwnam(user)
    except KeyError:
        return "a user called postgres to run it as, since this is root"
    return ""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of an empty PostgreSQL of this run's own, without a database's name."""
    if missing := _missing():
        pytest.skip(f"a real PostgreSQL needs {missing}")
    folder = Path(tempfile.mkdtemp(prefix="odradek-postgres-"))
    user, port = _user(), free_port()
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(_program(program)), "-D", str(folder / "data"), *arguments],
            user=user,
            extra_groups=[] if user else None,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    try:
        run("initdb", "-U", "odradek", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=50"
        run("pg_ctl", "-l", str(folder / "log"), "-w", "-o", options, "start")
        try:
            yield f"postgresql://odradek@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
async def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of the test's own, on each of the two kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/catalog.db"
    server: str = request.getfixturevalue("postgres_server")
    name = f"test_{uuid4().hex}"
    connection = await asyncpg.connect(f"{server}/postgres")
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    return f"{server}/{name}"


@pytest.fixture
async def empty_database(database_url: str) -> AsyncIterator[Database]:
    """A database without tables."""
    async with Database(SecretStr(database_url)) as database:
        yield database


@pytest.fixture
async def database(empty_database: Database) -> Database:
    """A database with all tables and the seeds."""
    async with empty_database.migrating() as connection:
        await connection.run_sync(migrating.upgrade)
    async with empty_database.writing() as session:
        await write_seeds(session)
    return empty_database
