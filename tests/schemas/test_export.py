"""The exported JSON Schemas are what the models say, and a change that readers cannot stand needs a new version."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from schemas import export, upcasters
from schemas.base import Record
from schemas.export import FOLDER, BreakingChange, problems, write
from schemas.registry import RECORD_TYPES


def test_the_exported_schemas_are_fresh_and_no_change_breaks_their_readers() -> None:
    assert problems() == []


def test_every_exported_file_belongs_to_a_record_type() -> None:
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.json")} == set(RECORD_TYPES)


class Letter(Record):
    """The first version."""

    words: str


def version_one() -> type[Record]:
    return Letter


def extended() -> type[Record]:
    class Letter(Record):
        """The first version with an addition."""

        words: str
        stamp: str = ""

    return Letter


def broken() -> type[Record]:
    class Letter(Record):
        """Changed beyond what readers stand."""

        words: int

    return Letter


def version_two() -> type[Record]:
    class Letter(Record):
        """The second version."""

        version: ClassVar[int] = 2
        words: int

    return Letter


def lenient_version_two() -> type[Record]:
    class Letter(Record):
        """A second version that still reads the first."""

        version: ClassVar[int] = 2
        words: str | int

    return Letter


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    write(tmp_path, [version_one()])
    return tmp_path


def test_writing_twice_writes_once(exported: Path) -> None:
    assert write(exported, [version_one()]) == []
    assert problems(exported, [version_one()]) == []


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, [version_one()]) == ["Letter.v1.json: missing; run `odradek schemas export`"]


def test_an_addition_makes_the_file_stale_until_it_is_written(exported: Path) -> None:
    assert problems(exported, [extended()]) == ["Letter.v1.json: stale; run `odradek schemas export`"]

    assert write(exported, [extended()]) == [exported / "Letter.v1.json"]
    assert problems(exported, [extended()]) == []


def test_a_breaking_change_is_told_and_never_written(exported: Path) -> None:
    before = (exported / "Letter.v1.json").read_text()

    (line, *_) = problems(exported, [broken()])
    assert line.startswith("Letter.v1.json: words: ")
    assert line.endswith("raise the version of Letter and add an upcaster")
    with pytest.raises(BreakingChange, match="words"):
        write(exported, [broken()])
    assert (exported / "Letter.v1.json").read_text() == before


def test_a_new_version_needs_an_upcaster_for_what_it_cannot_read(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(exported, [version_two()])

    (line,) = problems(exported, [version_two()])
    assert line.endswith("add an upcaster for ('Letter', 1)")

    monkeypatch.setattr(export, "UPCASTERS", {("Letter", 1): lambda value: {**value, "words": 0}})
    assert problems(exported, [version_two()]) == []


def test_a_new_version_that_reads_the_old_one_needs_no_upcaster(exported: Path) -> None:
    write(exported, [lenient_version_two()])

    assert problems(exported, [lenient_version_two()]) == []


def test_the_file_of_an_older_version_must_stay(exported: Path) -> None:
    write(exported, [lenient_version_two()])
    (exported / "Letter.v1.json").unlink()

    assert problems(exported, [lenient_version_two()]) == [
        "Letter.v1.json: missing; the files of older versions must stay"
    ]


def test_upcasters_run_in_order_and_a_step_without_one_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {
        ("Letter", 1): lambda value: {**value, "a": 1},
        ("Letter", 3): lambda value: {**value, "a": value["a"] + 1},
    }
    monkeypatch.setattr(upcasters, "UPCASTERS", steps)

    assert upcasters.upcast("Letter", 1, 4, {}) == {"a": 2}
    assert upcasters.upcast("Letter", 4, 4, {}) == {}


def test_the_tag_of_a_unions_member_is_required(tmp_path: Path) -> None:
    write(tmp_path)
    schema = json.loads((tmp_path / "StopRequested.v1.json").read_text())

    assert set(schema["$defs"]["OneTurn"]["required"]) == {"kind", "turn"}
