"""Exporting the schemas from the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

from schemas.export import FOLDER, file_name
from schemas.registry import RECORD_TYPES


def test_schemas_are_exported_checked_and_protected(odradek: Any, tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path / "json"))
    shutil.copytree(FOLDER, tmp_path / "json")
    for record in RECORD_TYPES.values():
        (tmp_path / "json" / file_name(record.__name__, record.version)).unlink()

    assert odradek("schemas", "check", *folder).code == 1
    assert len(odradek("schemas", "export", *folder).lines) == len(RECORD_TYPES)
    assert odradek("schemas", "check", *folder).lines == ["all exported schemas are fresh"]

    path = tmp_path / "json" / "SendText.v1.json"
    older = json.loads(path.read_text())
    older["properties"]["tone"] = {"type": "string"}
    older["required"] = [*older["required"], "tone"]
    path.write_text(json.dumps(older))

    checked = odradek("schemas", "check", *folder)
    exported = odradek("schemas", "export", *folder)

    assert checked.code == exported.code == 1
    assert checked.lines[0].startswith("SendText.v1.json: tone: ")
    assert "raise the version of SendText" in exported.err
    assert json.loads(path.read_text()) == older
