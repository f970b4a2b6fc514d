"""`odradek catalog` as an operator runs it, against a file and against nothing at all."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from services.catalog.migrating import head


def test_check_without_a_database_looks_at_the_seeds_alone(odradek: Any, tmp_path: Path) -> None:
    done = odradek("catalog", "check", "--no-database", ODRADEK_DATABASE_URL=f"sqlite:///{tmp_path}/catalog.db")

    assert done.code == 0
    assert "seeds keep every rule" in done.out
    assert not list(tmp_path.iterdir())


def test_upgrade_makes_the_tables_and_check_agrees(odradek: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db"
    assert odradek("catalog", "upgrade", ODRADEK_DATABASE_URL=url).out == f"an empty database -> {head()}\n"
    assert "nothing to do but the seeds" in odradek("catalog", "upgrade", ODRADEK_DATABASE_URL=url).out
    assert "seeds and database keep every rule" in odradek("catalog", "check", ODRADEK_DATABASE_URL=url).out


def test_check_finds_a_row_that_somebody_broke(odradek: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db"
    odradek("catalog", "upgrade", ODRADEK_DATABASE_URL=url)
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute("UPDATE llms SET supports_prefix_completion = 0 WHERE codename = 'deepseek-chat'")

    done = odradek("catalog", "check", "--json", ODRADEK_DATABASE_URL=url)

    assert done.code == 1
    [violation] = json.loads(done.out)
    assert (violation["provider"], violation["codename"]) == ("deepseek", "deepseek-chat")


def test_downgrade_and_upgrade_name_revisions(odradek: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db"
    odradek("catalog", "upgrade", ODRADEK_DATABASE_URL=url)

    done = odradek("catalog", "downgrade", "003_key_rotation", ODRADEK_DATABASE_URL=url)
    assert done.out == f"{head()} -> 003_key_rotation\n"
    behind = odradek("catalog", "check", ODRADEK_DATABASE_URL=url)
    assert behind.code == 2
    assert "run `odradek catalog upgrade`" in behind.err.lower()
    unknown = odradek("catalog", "upgrade", "nonsense", ODRADEK_DATABASE_URL=url)
    assert unknown.code == 1
    assert "025_strict_chat_compat_flags" in unknown.err


def test_a_database_that_is_away_is_told_without_its_password(odradek: Any) -> None:
    done = odradek("catalog", "upgrade", ODRADEK_DATABASE_URL="postgresql://me:hunter2hunter2@127.0.0.1:1/odradek")

    assert done.code == 1
    assert "the catalog's database is unavailable" in done.err
    assert "hunter2" not in done.out + done.err
