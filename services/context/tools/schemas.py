"""A tool's parameters as the providers of plain JSON Schema take them: one object at the root, nothing refused inside.

OpenAI and Anthropic want `type: object` and no alternatives at the root; Anthropic takes no `$ref` anywhere and property
names of its own pattern (https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from services.context.tools.keywords import Schema, is_array, is_object
from services.context.tools.schema_walk import SchemaWalk, types_of

ANTHROPIC_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_NOT_AT_ROOT = ("anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else")


@dataclass(frozen=True, slots=True)
class SoundSchema:
    """A schema of draft 2020-12 for an object. `lost` names what of the original's meaning it does not say."""

    schema: Schema
    lost: tuple[str, ...] = ()


def sound_schema(parameters: Schema, properties: re.Pattern[str] | None = None) -> SoundSchema:
    """The parameters as every JSON Schema provider takes them; what cannot be said becomes more permissive.

    `properties`: the only names of properties that the provider takes; others are left out, since a renamed one would
    not reach the tool.
    """
    walk = SchemaWalk(parameters)
    schema = _rooted(walk.schema(parameters), walk.notes)
    if properties is not None:
        schema = _named(schema, properties, walk.notes)
    return SoundSchema(schema, tuple(walk.notes))


def _rooted(schema: Schema, notes: dict[str, None]) -> Schema:
    types = types_of(schema)
    if types and "object" not in types:
        notes["a root that is no object"] = None
        return {"type": "object", "properties": {}}
    lost = [key for key in _NOT_AT_ROOT if key in schema]
    notes.update(dict.fromkeys(f"{key} at the root" for key in lost))
    properties = _properties(schema)
    required: list[JsonValue] = [name for name in _required(schema) if name in properties]
    flat = {key: value for key, value in schema.items() if key not in (*_NOT_AT_ROOT, "required")}
    flat |= {"type": "object", "properties": properties}
    return {**flat, "required": required} if required else flat


def _properties(schema: Schema) -> Schema:
    """The properties of the schema and of all its alternatives; of two with one name the first."""
    found: Schema = {}
    own = schema.get("properties")
    for name, value in own.items() if is_object(own) else ():
        found[name] = value
    for branch in [*_branches(schema, "allOf"), *_branches(schema, "anyOf"), *_branches(schema, "oneOf")]:
        for name, value in _properties(branch).items():
            found.setdefault(name, value)
    return found


def _required(schema: Schema) -> list[str]:
    """What is required whichever alternative holds."""
    own = schema.get("required")
    names = [str(name) for name in own] if is_array(own) else []
    for branch in _branches(schema, "allOf"):
        names += _required(branch)
    for key in ("anyOf", "oneOf"):
        alternatives = [_required(branch) for branch in _branches(schema, key)]
        if alternatives:
            names += [name for name in alternatives[0] if all(name in other for other in alternatives)]
    return list(dict.fromkeys(names))


def _branches(schema: Schema, key: str) -> list[Schema]:
    found = schema.get(key)
    return [branch for branch in found if is_object(branch)] if is_array(found) else []


def _named(schema: Schema, taken: re.Pattern[str], notes: dict[str, None]) -> Schema:
    """The schema and all inside of it without properties of other names."""
    out: Schema = {}
    for key, value in schema.items():
        if key == "properties" and is_object(value):
            kept: Schema = {name: _inner(entry, taken, notes) for name, entry in value.items() if taken.fullmatch(name)}
            if len(kept) < len(value):
                notes["names of properties"] = None
            out[key] = kept
        elif key == "patternProperties" and is_object(value):
            out[key] = {pattern: _inner(entry, taken, notes) for pattern, entry in value.items()}
        elif key == "required" and is_array(value):
            if names := [name for name in value if isinstance(name, str) and taken.fullmatch(name)]:
                out[key] = [*names]
        elif key in ("enum", "const", "default", "examples"):
            out[key] = value
        else:
            out[key] = _inner(value, taken, notes)
    return out


def _inner(value: JsonValue, taken: re.Pattern[str], notes: dict[str, None]) -> JsonValue:
    if is_object(value):
        return _named(value, taken, notes)
    if is_array(value):
        return [_inner(entry, taken, notes) for entry in value]
    return value


def reason(lost: Iterable[str]) -> str:
    """The words of a warning about what was lost."""
    return f"the provider does not take all of the schema; left out or rewritten: {', '.join(lost)}"
