"""Any JSON as a sound JSON Schema: of draft 2020-12, with all references put in place, bounded in depth and size.

Schemas come from tools of strangers. Keywords that are none, or hold what they may not, are left out; older drafts' forms
become today's. https://json-schema.org/draft/2020-12/json-schema-validation
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

from pydantic import JsonValue

from services.context.tools.keywords import PLAIN, Schema, is_array, is_object, size_of

MOST_DEPTH = 24
"""Schemas inside each other. What is deeper may be anything."""
MOST_CHARACTERS = 64_000
"""Of one tool's schema. What comes after them may be anything."""
MOST_ALTERNATIVES = 200
"""Schemas in one list. What comes after them is left out."""

_ANNOTATIONS = frozenset({"$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$ref", "$vocabulary"})
"""Keywords that say nothing once references are in place."""


class SchemaWalk:
    """One walk through one tool's schema. `notes`: what of its meaning was lost, in words for a warning."""

    def __init__(self, root: Schema) -> None:
        self.notes: dict[str, None] = {}
        self._root = root
        self._left = MOST_CHARACTERS

    def schema(self, found: JsonValue, depth: int = 0, refs: frozenset[str] = frozenset()) -> Schema:
        """The schema that `found` means, as far as it is one."""
        if found is False:
            return {"not": {}}
        if not is_object(found) or not found:
            return {}
        self._left -= 2
        if depth >= MOST_DEPTH or self._left <= 0:
            self._note("depth" if depth >= MOST_DEPTH else "size")
            return {}
        found, refs = self._in_place(found, refs)
        out: Schema = {}
        for key, value in found.items():
            self._left -= len(key) + 4
            if self._left <= 0:
                self._note("size")
                break
            if key in _ANNOTATIONS:
                continue
            if key == "const" and value is None:
                out["enum"] = [None]
            elif (kept := self._keyword(key, value, depth + 1, refs)) is not None:
                out[key] = kept
            elif value is not None:
                self._note(key if key in PLAIN or key in _NESTED else "unknown keywords")
        return _modern(out)

    def _keyword(self, key: str, value: JsonValue, depth: int, refs: frozenset[str]) -> JsonValue:
        """The keyword's value as it should be; None: it has none."""
        if key in PLAIN:
            kept = PLAIN[key](value)
            self._left -= size_of(kept, self._left)
            return kept if self._left > 0 else None
        if key in _NESTED:
            return self._nested(key, value, depth, refs)
        return None

    def _nested(self, key: str, value: JsonValue, depth: int, refs: frozenset[str]) -> JsonValue:
        kind = _NESTED[key]
        if kind == "schema":
            if isinstance(value, bool) and key == "additionalProperties":
                return value
            if is_array(value) and key == "items":
                return self._each(value, depth, refs)
            return self.schema(value, depth, refs) if is_object(value) or value is True else None
        if kind == "list":
            return (self._each(value, depth, refs) or None) if is_array(value) else None
        if not is_object(value):
            return None
        out: Schema = {}
        for name, entry in value.items():
            self._left -= len(name) + 4
            if self._left <= 0:
                self._note("size")
                break
            if entry is not False:
                out[name] = self.schema(entry, depth, refs)
        return out

    def _each(self, entries: list[JsonValue], depth: int, refs: frozenset[str]) -> list[JsonValue]:
        out: list[JsonValue] = []
        for entry in entries:
            self._left -= 2
            if self._left <= 0 or len(out) == MOST_ALTERNATIVES:
                self._note("size")
                break
            out.append(self.schema(entry, depth, refs))
        return out

    def _in_place(self, found: Schema, refs: frozenset[str]) -> tuple[Schema, frozenset[str]]:
        """The schema with what it refers to under what stands beside the reference."""
        while isinstance(ref := found.get("$ref"), str):
            beside = {key: value for key, value in found.items() if key != "$ref"}
            target = _resolved(self._root, ref)
            # All work is paid for, also that of looking up and copying, or a few references could cost hours.
            self._left -= len(ref) + len(target or ())
            if target is None or self._left <= 0:
                self._note("$ref" if target is None else "size")
                return beside, refs
            if ref in refs or len(refs) >= MOST_DEPTH:
                self._note("recursive $ref")
                return {**{key: target[key] for key in ("type", "description") if key in target}, **beside}, refs
            found, refs = {**target, **beside}, refs | {ref}
        return found, refs

    def _note(self, what: str) -> None:
        self.notes[what] = None


def types_of(schema: Mapping[str, JsonValue]) -> list[str]:
    """The types that a sound schema allows by name; none: it names none."""
    found = schema.get("type")
    return [found] if isinstance(found, str) else [str(name) for name in found] if is_array(found) else []


def _resolved(root: Schema, ref: str) -> Schema | None:
    """What a reference inside of the document points at; None for any other."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    found: JsonValue = root
    for step in ref.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if is_object(found):
            found = found.get(key)
        elif is_array(found) and key.isascii() and key.isdigit() and len(key) < 6 and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if is_object(found) else None


def _modern(schema: Schema) -> Schema:
    """The forms of older drafts and of OpenAPI as draft 2020-12 has them."""
    if is_array(items := schema.get("items")):
        schema["prefixItems"] = items
        del schema["items"]
        if not items:
            del schema["prefixItems"]
    for strict, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(flag := schema.get(strict), bool):
            del schema[strict]
            if flag and plain in schema:
                schema[strict] = schema.pop(plain)
    types = types_of(schema)
    if schema.pop("nullable", False) and types and "null" not in types:
        schema["type"] = [*types, "null"]
    if "array" in types and "items" not in schema:
        # OpenAI refuses an array that does not say of what; anything is what its absence means.
        schema["items"] = {}
    return schema


_NESTED: Mapping[str, Literal["schema", "list", "named"]] = {
    "properties": "named",
    "patternProperties": "named",
    "additionalProperties": "schema",
    "propertyNames": "schema",
    "items": "schema",
    "prefixItems": "list",
    "contains": "schema",
    "anyOf": "list",
    "oneOf": "list",
    "allOf": "list",
    "not": "schema",
    "if": "schema",
    "then": "schema",
    "else": "schema",
}
