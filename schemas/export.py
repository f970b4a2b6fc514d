"""The record types as JSON Schema files, `<Type>.v<version>.json`: the contract for readers in other languages.

A file of the current version is never overwritten with one that its readers could not stand: that needs a new version.
Files of older versions stay as they are.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from schemas.base import Record
from schemas.compatibility import breaking_changes, gaps
from schemas.registry import RECORD_TYPES
from schemas.upcasters import UPCASTERS, JsonObject

FOLDER = Path(__file__).parent / "json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class BreakingChange(Exception):
    """A model has changed in a way that readers of its version cannot stand; the message lists where."""


def schema_of(model: type[Record]) -> JsonObject:
    """The JSON Schema of what a reader accepts. The tag of a union's member is required, as the models require it."""
    schema = cast(JsonObject, model.model_json_schema(mode="validation"))
    _require_tags(schema, cast(dict[str, JsonObject], schema.get("$defs", {})))
    return {"$schema": _DIALECT, **schema}


def file_name(record_type: str, version: int) -> str:
    """The name of a version's file."""
    return f"{record_type}.v{version}.json"


def rendered(model: type[Record]) -> str:
    """The text of the model's file, the same for equal schemas."""
    return json.dumps(schema_of(model), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write(folder: Path = FOLDER, models: Iterable[type[Record]] = tuple(RECORD_TYPES.values())) -> list[Path]:
    """Write the files that are missing or stale; returns them. Raises BreakingChange before anything is written."""
    models = tuple(models)
    broken = [problem for model in models for problem in _breaks(folder, model)]
    if broken:
        raise BreakingChange("\n".join(broken))
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for model in models:
        path = folder / file_name(model.__name__, model.version)
        text = rendered(model)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def problems(folder: Path = FOLDER, models: Iterable[type[Record]] = tuple(RECORD_TYPES.values())) -> list[str]:
    """What is wrong with the files, one line each: missing, stale, a breaking change, a version without an upcaster."""
    found: list[str] = []
    for model in models:
        name = file_name(model.__name__, model.version)
        if not (folder / name).is_file():
            found.append(f"{name}: missing; run `odradek schemas export`")
        elif broken := _breaks(folder, model):
            found += broken
        elif (folder / name).read_text(encoding="utf-8") != rendered(model):
            found.append(f"{name}: stale; run `odradek schemas export`")
        found += _steps_missing(folder, model)
    return found


def _breaks(folder: Path, model: type[Record]) -> list[str]:
    path = folder / file_name(model.__name__, model.version)
    if not path.is_file():
        return []
    return [
        f"{path.name}: {change}; raise the version of {model.__name__} and add an upcaster"
        for change in breaking_changes(_read(path), schema_of(model))
    ]


def _steps_missing(folder: Path, model: type[Record]) -> list[str]:
    """Old versions that this code claims to read without an upcaster, although their records may not fit the next one."""
    found: list[str] = []
    for version in range(1, model.version):
        name, following = file_name(model.__name__, version), file_name(model.__name__, version + 1)
        if not (folder / name).is_file():
            found.append(f"{name}: missing; the files of older versions must stay")
            continue
        if (model.__name__, version) in UPCASTERS:
            continue
        newer = schema_of(model) if version + 1 == model.version else None
        if newer is None and (folder / following).is_file():
            newer = _read(folder / following)
        found += [
            f"{name}: {gap} in version {version + 1}; add an upcaster for ({model.__name__!r}, {version})"
            for gap in gaps(writer=_read(folder / name), reader=newer or {})
        ]
    return found


def _read(path: Path) -> JsonObject:
    return cast(JsonObject, json.loads(path.read_text(encoding="utf-8")))


def _require_tags(part: object, definitions: dict[str, JsonObject]) -> None:
    if isinstance(part, list):
        for item in cast(list[object], part):
            _require_tags(item, definitions)
    if not isinstance(part, dict):
        return
    fields = cast(dict[str, object], part)
    discriminator = fields.get("discriminator")
    if isinstance(discriminator, dict) and "mapping" in discriminator:
        tag = cast(str, discriminator["propertyName"])
        for reference in cast(dict[str, str], discriminator["mapping"]).values():
            member = definitions[reference.removeprefix("#/$defs/")]
            required = cast(list[str], member.get("required", []))
            member["required"] = [*required, *(() if tag in required else (tag,))]
    for inner in fields.values():
        _require_tags(inner, definitions)
