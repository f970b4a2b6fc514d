"""What the doctor finds about the catalog, only looking, and how a worker ends that cannot open it."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.topics import load_topics
from services.catalog import migrating
from services.cli.doctor_catalog import check_catalog
from services.cli.doctor_checks import Finding
from services.runtime.kafka.admin import provision

SECRET = "0123456789abcdef" * 2


async def found_by(settings: Any) -> dict[str, Finding]:
    return {finding.what: finding async for finding in check_catalog(settings)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def with_catalog(make_settings: Any, file: Path) -> Any:
    def made(**settings: Any) -> Any:
        given = {"crypto_secrets": {1: SecretStr(SECRET)}, "database_url": SecretStr(f"sqlite:///{file}")}
        return make_settings(**(given | settings))

    return made


async def test_no_secret_means_no_catalog_and_is_no_failure(make_settings: Any) -> None:
    assert (await found_by(make_settings()))["catalog"].state == "info"


async def test_a_current_version_without_any_secret_is_warned_of(make_settings: Any) -> None:
    found = await found_by(make_settings(crypto_secret_current=7))
    assert (found["catalog"].state, "ODRADEK_CRYPTO_SECRET_V7" in found["catalog"].remedy) == ("warn", True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"crypto_secrets": {1: SecretStr("short")}}, "ODRADEK_CRYPTO_SECRET_V1 has fewer than 32 characters"),
        ({"crypto_secret_current": 7}, "ODRADEK_CRYPTO_SECRET_V7 is not set"),
    ],
)
async def test_a_secret_that_workers_would_refuse_fails(with_catalog: Any, settings: Any, words: str) -> None:
    found = await found_by(with_catalog(**settings))
    assert found["catalog secret"].state == "FAIL"
    assert words in found["catalog secret"].detail
    assert found["catalog secret"].remedy


async def test_a_file_that_is_not_there_is_told_and_not_made(with_catalog: Any, file: Path) -> None:
    found = await found_by(with_catalog())
    assert (found["catalog secret"].state, found["catalog database"].state) == ("ok", "info")
    assert not file.exists()


async def test_a_database_is_ok_at_this_codes_revision_and_fails_at_one_that_is_unknown(
    with_catalog: Any, odradek: Any, file: Path
) -> None:
    url = f"sqlite:///{file}"
    await asyncio.to_thread(odradek, "catalog", "upgrade", ODRADEK_DATABASE_URL=url)
    newest = (await found_by(with_catalog()))["catalog database"]
    await asyncio.to_thread(odradek, "catalog", "downgrade", "003_key_rotation", ODRADEK_DATABASE_URL=url)
    older = (await found_by(with_catalog()))["catalog database"]
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of_tomorrow'")
    newer = (await found_by(with_catalog()))["catalog database"]

    assert [newest.state, older.state, newer.state] == ["ok", "info", "FAIL"]
    assert migrating.head() in newest.detail
    assert "003_key_rotation" in older.detail
    assert "of_tomorrow" in newer.detail


@pytest.mark.parametrize("url", ["postgresql://me:hunter2@127.0.0.1:1/odradek", "mysql://me:hunter2@db/x"])
async def test_a_database_that_cannot_be_used_fails_without_its_password(with_catalog: Any, url: str) -> None:
    found = (await found_by(with_catalog(database_url=SecretStr(url))))["catalog database"]
    assert found.state == "FAIL"
    assert "ODRADEK_DATABASE_URL" in found.remedy
    assert "hunter2" not in found.detail + found.remedy


@pytest.mark.parametrize("empty", [True, False])
def test_catalog_check_makes_no_file_and_changes_no_empty_one(odradek: Any, file: Path, empty: bool) -> None:
    if empty:
        file.touch()
    done = odradek("catalog", "check", ODRADEK_DATABASE_URL=f"sqlite:///{file}")
    assert done.code == 2
    assert "not there yet" in done.err
    assert "`odradek catalog upgrade`" in done.err
    assert [path.stat().st_size for path in file.parent.iterdir()] == ([0] if empty else [])


async def test_a_worker_that_stops_at_the_secret_leaves_no_consumer_open(
    odradek: Any, kafka: Any, topic_prefix: str, make_settings: Any
) -> None:
    settings = make_settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix)
    await provision(settings, load_topics(), partitions=2)

    done = await asyncio.to_thread(
        odradek, "worker", "context", ODRADEK_KAFKA=kafka.bootstrap, ODRADEK_BROKER=kafka.kind,
        ODRADEK_PREFIX=topic_prefix, ODRADEK_DISCORD_TOKEN="x", ODRADEK_CRYPTO_SECRET_V1="short",
    )  # fmt: skip

    assert done.code == 2
    assert "ODRADEK_CRYPTO_SECRET_V1 has fewer than 32 characters" in done.err
    assert "Unclosed" not in done.err
