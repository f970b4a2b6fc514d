"""Whether two versions of a JSON Schema can talk: a reader must be able to read all that a writer may write.

Pure, and on the safe side: a keyword that is unknown here and differs counts as a gap. Keywords and their meaning are
those of https://json-schema.org/draft/2020-12/json-schema-validation.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from schemas.parameter_types import json_type

Schema = Mapping[str, object]

_ANNOTATIONS = frozenset(
    {
        "$schema",
        "$id",
        "$defs",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "discriminator",
        "$comment",
    }
)
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_UNDERSTOOD = frozenset(
    {"type", "enum", "const", "anyOf", "oneOf", "pattern", "properties", "required", "additionalProperties", "items"}
    | {*_LOWER, *_UPPER}
)
_ALL_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """What readers of `old` could not read in what `new` writes, or readers of `new` in what `old` wrote.

    Each line names the place. A field that was removed counts even where readers stand its absence: what it said in
    old records would be lost without a word. Empty: the change needs no new version.
    """
    forth = [f"{gap} (old readers, new records)" for gap in gaps(writer=new, reader=old)]
    back = [f"{gap} (new readers, old records)" for gap in gaps(writer=old, reader=new)]
    told = {gap.split(": ")[0] for gap in forth}
    removed = [f"{place}: the field was removed" for place in _removed(old, new) if place not in told]
    return [*forth, *back, *removed]


def gaps(*, writer: Schema, reader: Schema) -> list[str]:
    """Why a value that is valid for `writer` may be refused by `reader`; empty where none can be."""
    return _Comparison(writer, reader).run()


class _Comparison:
    def __init__(self, writer: Schema, reader: Schema) -> None:
        self._roots = (writer, reader)
        self._open: set[tuple[str, str]] = set()

    def run(self) -> list[str]:
        writer, reader = self._roots
        return list(dict.fromkeys(self._gaps(writer, reader, "")))

    def _gaps(self, writer: Schema, reader: Schema, path: str) -> list[str]:
        pair = (_key(writer), _key(reader))
        if "$ref" in writer and pair in self._open:
            return []  # a type that holds itself: the comparison is already under way further up
        self._open.add(pair)
        try:
            return list(self._compare(_resolved(writer, self._roots[0]), _resolved(reader, self._roots[1]), path))
        finally:
            self._open.discard(pair)

    def _compare(self, writer: Schema, reader: Schema, path: str) -> Iterator[str]:
        place = path or "the record"
        if not reader.keys() - _ANNOTATIONS:
            return
        if branches := _branches(writer):
            for branch in branches:
                yield from self._gaps(branch, reader, path)
            return
        if branches := _branches(reader):
            yield from self._one_of(writer, branches, path)
            return
        for keyword in sorted((writer.keys() | reader.keys()) - _UNDERSTOOD - _ANNOTATIONS):
            if keyword in reader and writer.get(keyword) != reader[keyword]:
                yield f"{place}: {keyword} differs"
        if (allowed := _values(writer)) is not None:
            for value in allowed:
                if not _accepts(reader, value):
                    yield f"{place}: the value {json.dumps(value)} is not accepted"
            return
        if (known := _values(reader)) is not None:
            yield f"{place}: only {', '.join(json.dumps(value) for value in known) or 'its absence'} is accepted"
            return
        if surplus := sorted(_types(writer) - _types(reader)):
            yield f"{place}: the type {' or '.join(surplus)} is not accepted"
            return
        yield from _limits(writer, reader, place)
        yield from self._containers(writer, reader, path)

    def _one_of(self, writer: Schema, branches: list[Schema], path: str) -> Iterator[str]:
        """The writer's values must all fit one branch; of several that do not, the nearest says why."""
        tries = [self._gaps(writer, branch, path) for branch in branches]
        if not any(not found for found in tries):
            tag = _tag(_resolved(writer, self._roots[0]))
            same = [found for found, branch in zip(tries, branches, strict=True) if _tag(self._read(branch)) == tag]
            nearest = min(same or tries, key=len)
            yield from nearest

    def _read(self, branch: Schema) -> Schema:
        return _resolved(branch, self._roots[1])

    def _containers(self, writer: Schema, reader: Schema, path: str) -> Iterator[str]:
        types = _types(writer)
        if "array" in types and "items" in reader:
            yield from self._gaps(_child(writer, "items"), _child(reader, "items"), f"{path}[]")
        if "object" not in types:
            return
        written, read = _properties(writer), _properties(reader)
        always, needed = _required(writer), _required(reader)
        for name, schema in read.items():
            place = f"{path}.{name}".lstrip(".")
            if name in needed and name not in written:
                yield f"{place}: the field is required, but not written"
            elif name in needed and name not in always:
                yield f"{place}: the field is required, but may be absent"
            if name in written:
                yield from self._gaps(written[name], schema, place)
        if "additionalProperties" in reader:
            others = _child(reader, "additionalProperties")
            for name in written.keys() - read.keys():
                yield from self._gaps(written[name], others, f"{path}.{name}".lstrip("."))
            # A writer that says nothing of further fields writes none: models write the fields that they declare.
            if "additionalProperties" in writer:
                yield from self._gaps(_child(writer, "additionalProperties"), others, f"{path}.*".lstrip("."))


def _removed(old: Schema, new: Schema) -> Iterator[str]:
    """Places of fields that `old` has and `new` has not, where both have the object that held them."""
    before, after = dict(_fields(old, old, "", ())), dict(_fields(new, new, "", ()))
    for place in before:
        parent = place.rpartition(".")[0].removesuffix("[]")
        if place not in after and (not parent or parent in after or f"{parent}[]" in after):
            yield place


def _fields(schema: Schema, root: Schema, path: str, within: tuple[str, ...]) -> Iterator[tuple[str, None]]:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in within:
            return
        within = (*within, reference)
        schema = _resolved(schema, root)
    for branch in _branches(schema):
        yield from _fields(branch, root, path, within)
    for name, inner in _properties(schema).items():
        place = f"{path}.{name}".lstrip(".")
        yield place, None
        yield from _fields(inner, root, place, within)
    if "items" in schema:
        yield from _fields(_child(schema, "items"), root, f"{path}[]", within)


def _limits(writer: Schema, reader: Schema, place: str) -> Iterator[str]:
    pattern = reader.get("pattern")
    if pattern is not None and writer.get("pattern") != pattern:
        yield f"{place}: only what matches {pattern} is accepted"
    own, demanded = _bounds(writer), _bounds(reader)
    for keyword, bound in demanded.items():
        inward = 1 if keyword in _LOWER else -1
        if keyword not in own or own[keyword] * inward < bound * inward:
            yield f"{place}: {keyword} {bound:g} is demanded"


def _bounds(schema: Schema) -> dict[str, float]:
    """The limits by keyword; an exclusive limit of integers is the inclusive one beside it, so that they compare."""
    found: dict[str, float] = {}
    integers = "number" not in _types(schema)
    for keyword in (*_LOWER, *_UPPER):
        value = schema.get(keyword)
        if not isinstance(value, int | float):
            continue
        inward = 1 if keyword in _LOWER else -1
        if integers and keyword.startswith("exclusive"):
            keyword, value = ("minimum" if inward > 0 else "maximum"), value + inward
        found[keyword] = value if keyword not in found else max(found[keyword] * inward, value * inward) * inward
    return found


def _accepts(schema: Schema, value: object) -> bool:
    """Whether a constant of the writer fits a schema without branches."""
    allowed = _values(schema)
    if allowed is not None:
        return any(type(other) is type(value) and other == value for other in allowed)
    if json_type(value) not in _types(schema):
        return False
    if isinstance(value, str):
        bounds = _bounds(schema)
        pattern = schema.get("pattern")
        return bounds.get("minLength", 0) <= len(value) <= bounds.get("maxLength", len(value)) and (
            not isinstance(pattern, str) or re.search(pattern, value) is not None
        )
    return not _bounds(schema)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema behind a reference into its own `$defs`, if it is one."""
    reference = schema.get("$ref")
    while isinstance(reference, str):
        definitions = cast(Mapping[str, Schema], root.get("$defs", {}))
        schema = definitions[reference.removeprefix("#/$defs/")]
        reference = schema.get("$ref")
    return schema


def _branches(schema: Schema) -> list[Schema]:
    found = schema.get("anyOf", schema.get("oneOf"))
    return cast(list[Schema], found) if isinstance(found, list) else []


def _values(schema: Schema) -> list[object] | None:
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return cast(list[object], found) if isinstance(found, list) else None


def _types(schema: Schema) -> frozenset[str]:
    """The types that are accepted, `number` with `integer` in it."""
    found = schema.get("type")
    if found is None:
        return _ALL_TYPES
    types = frozenset(cast(list[str], found)) if isinstance(found, list) else frozenset((cast(str, found),))
    return types | {"integer"} if "number" in types else types


def _properties(schema: Schema) -> Mapping[str, Schema]:
    return cast(Mapping[str, Schema], schema.get("properties", {}))


def _required(schema: Schema) -> frozenset[str]:
    return frozenset(cast(list[str], schema.get("required", [])))


def _child(schema: Schema, keyword: str) -> Schema:
    """A subschema; `true` and an absent one accept everything, `false` nothing."""
    found = schema.get(keyword, True)
    if found is False:
        return {"enum": []}
    return {} if found is True else cast(Schema, found)


def _tag(schema: Schema) -> list[str]:
    """What tells the members of a union apart: their constants, else their types."""
    constants = [f"{name}={prop['const']}" for name, prop in sorted(_properties(schema).items()) if "const" in prop]
    return constants or sorted(_types(schema))


def _key(schema: Schema) -> str:
    return json.dumps(schema, sort_keys=True)
