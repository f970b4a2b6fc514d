"""A tool's parameters in Google's dialect of OpenAPI 3.0, which knows a small part of JSON Schema.

https://ai.google.dev/api/caching#Schema. An unknown field is refused. A type is one word, null is a flag, an enum is of
texts, `anyOf` stands alone. What this cannot say goes into the description if it is short, else it is left out.
"""

import json
import re

from pydantic import JsonValue

from services.context.tools.keywords import Schema, is_array, is_object
from services.context.tools.schema_walk import types_of
from services.context.tools.schemas import SoundSchema

GOOGLE_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration"""

_FORMATS = {"string": ("date-time",), "number": ("float", "double"), "integer": ("int32", "int64")}
_OF_TYPE: dict[str, tuple[str, ...]] = {
    "string": ("enum", "format", "pattern", "minLength", "maxLength"),
    "number": ("format", "minimum", "maximum"),
    "integer": ("format", "minimum", "maximum"),
    "boolean": (),
    "array": ("items", "minItems", "maxItems"),
    "object": ("properties", "required", "minProperties", "maxProperties"),
}
_HARMLESS = frozenset(
    {"title", "description", "additionalProperties", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords beside the type's own that say nothing a model's call could break."""
_DECISIVE = ("properties", "items", "enum", "const")
"""Keywords beside which alternatives can only narrow what is said already."""
_MOST_TOLD = 400
"""Characters of values that are told in a description."""


def google_schema(sound: SoundSchema) -> SoundSchema:
    """The schema, whose root is an object without alternatives already, in Google's words."""
    conversion = _Conversion(dict.fromkeys(sound.lost))
    schema = conversion.schema(sound.schema)
    return SoundSchema(schema, tuple(conversion.notes))


class _Conversion:
    """One conversion; `notes` as those of a walk."""

    def __init__(self, notes: dict[str, None]) -> None:
        self.notes = notes

    def schema(self, found: Schema) -> Schema:
        """One schema with all inside of it."""
        merged = self._without_all_of(found)
        split = self._split(merged)
        if split is None:
            return self._typed(merged)
        base, variants = split
        inner = [variant for variant in variants if types_of(variant) != ["null"]]
        nullable = len(inner) < len(variants)
        if not inner:
            return self._typed({**base, "type": "null"})
        if len(inner) == 1:
            one = {**inner[0], **base, **{key: inner[0][key] for key in ("type",) if key in inner[0]}}
            return _nullable(self.schema(one), nullable=nullable)
        if (texts := _literals(inner)) is not None:
            return _nullable(self._typed({**base, "type": "string", "enum": texts}), nullable=nullable)
        # Vertex refuses any field beside anyOf, so what stands beside it goes into each alternative.
        told = [_nullable(self.schema({**base, **variant}), nullable=nullable) for variant in inner]
        return {"anyOf": [*_flat(told)]}

    def _without_all_of(self, found: Schema) -> Schema:
        """The schema with the parts of its `allOf` in it; of two that say the same keyword the first holds."""
        branches = found.get("allOf")
        if not is_array(branches):
            return found
        merged = {key: value for key, value in found.items() if key != "allOf"}
        for branch in branches:
            for key, value in (self._without_all_of(branch) if is_object(branch) else {}).items():
                held = merged.setdefault(key, value)
                if held is value or held == value:
                    continue
                if key == "properties" and is_object(held) and is_object(value):
                    merged[key] = {**value, **held}
                elif key == "required" and is_array(held) and is_array(value):
                    merged[key] = [*dict.fromkeys(str(name) for name in [*held, *value])]
                else:
                    self.notes["allOf"] = None
        return merged

    def _split(self, found: Schema) -> tuple[Schema, list[Schema]] | None:
        """What stands beside a schema's alternatives, and these; None: it has none, or says enough without them."""
        for key in ("anyOf", "oneOf"):
            listed = found.get(key)
            if not is_array(listed):
                continue
            variants = [variant for variant in listed if is_object(variant) and variant]
            if len(variants) == len(listed) and not any(name in found for name in _DECISIVE):
                return {name: value for name, value in found.items() if name not in ("anyOf", "oneOf")}, variants
        types = types_of(found)
        if len(types) < 2:
            return None
        bare = {key: value for key, value in found.items() if key not in ("enum", "anyOf", "oneOf")}
        values = found.get("enum")
        if not is_array(values):
            return {}, [{**bare, "type": name} for name in types]
        fitting = [(name, _of_type(values, name)) for name in types]
        return {}, [{**bare, "type": name, "enum": fit} for name, fit in fitting if fit]

    def _typed(self, found: Schema) -> Schema:
        """A schema of one type, which Google wants named."""
        kind = self._type(found)
        out: Schema = {"type": kind.upper()}
        told: list[str] = []
        values = found.get("enum", [found["const"]] if "const" in found else None)
        own = {**found, "enum": values} if values is not None else found
        for key, value in own.items():
            if key in _OF_TYPE[kind]:
                kept = self._keyword(kind, key, value, own)
                if kept is not None:
                    out[key] = kept
                    continue
                told += _told(key, value)
                self.notes[key] = None
            elif key in ("enum", "const", "prefixItems", "exclusiveMinimum", "exclusiveMaximum"):
                if key != "const":
                    told += _told(key, value)
                    self._strict_bound(kind, key, value, out)
            elif key not in ("type", *_HARMLESS):
                self.notes[key] = None
        if found.get("additionalProperties") not in (None, True, False):
            self.notes["additionalProperties"] = None
        if kind == "array" and "items" not in out:
            out["items"] = self._items(found)
        description = " ".join(part for part in (str(found.get("description", "")), *told) if part)
        if description:
            out["description"] = description
        if isinstance(title := found.get("title"), str):
            out["title"] = title
        return _nullable(out, nullable="null" in types_of(found) or (is_array(values) and None in values))

    def _type(self, found: Schema) -> str:
        named = [name for name in types_of(found) if name != "null"]
        if named:
            return named[0]
        values = found.get("enum", [found["const"]] if "const" in found else None)
        for kind, sign in (("object", "properties"), ("array", "items"), ("array", "prefixItems")):
            if sign in found:
                return kind
        if is_array(values):
            fitting = [name for name in ("boolean", "integer", "number") if len(_of_type(values, name)) == len(values)]
            return fitting[0] if fitting else "string"
        if any(key in found for key in ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")):
            return "number"
        if not any(key in found for key in ("type", "pattern", "minLength", "maxLength", "format")):
            self.notes["a missing type"] = None
        return "string"

    def _keyword(self, kind: str, key: str, value: JsonValue, found: Schema) -> JsonValue:
        """What Google takes of one of the type's keywords; None: nothing."""
        match key:
            case "enum":
                values = value if is_array(value) else []
                texts: list[JsonValue] = [text for text in values if isinstance(text, str) and text]
                if len(texts) < len([entry for entry in values if entry is not None]):
                    self.notes[key] = None
                return texts or None
            case "format":
                return value if value in _FORMATS[kind] else None
            case "items":
                return self._items(found)
            case "properties":
                return (
                    {name: self.schema(entry) for name, entry in value.items() if is_object(entry)}
                    if is_object(value)
                    else None
                )
            case "required":
                properties = found.get("properties")
                known = properties if is_object(properties) else {}
                return [name for name in value if isinstance(name, str) and name in known] if is_array(value) else None
            case _:
                return value

    def _items(self, found: Schema) -> Schema:
        items, listed = found.get("items"), found.get("prefixItems")
        if is_object(items) and items:
            return self.schema(items)
        first = listed[0] if is_array(listed) and listed else {}
        return self.schema(first if is_object(first) else {})

    def _strict_bound(self, kind: str, key: str, value: JsonValue, out: Schema) -> None:
        plain = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}.get(key)
        if plain is None or kind not in ("integer", "number"):
            self.notes[key] = None
        elif kind == "integer" and isinstance(value, int):
            out.setdefault(plain[0], value + plain[1])
        else:
            out.setdefault(plain[0], value)
            self.notes[key] = None


def _nullable(schema: Schema, *, nullable: bool) -> Schema:
    if not nullable:
        return schema
    variants = schema.get("anyOf")
    if is_array(variants):
        return {"anyOf": [_nullable(variant, nullable=True) for variant in variants if is_object(variant)]}
    return {**schema, "nullable": True}


def _flat(schemas: list[Schema]) -> list[Schema]:
    """Alternatives inside alternatives as one list."""
    out: list[Schema] = []
    for schema in schemas:
        inner = schema.get("anyOf")
        out.extend([variant for variant in inner if is_object(variant)] if is_array(inner) else [schema])
    return out


def _literals(variants: list[Schema]) -> list[JsonValue] | None:
    """The texts of alternatives each of which is one text or some."""
    texts: list[JsonValue] = []
    for variant in variants:
        values = variant.get("enum", [variant["const"]] if "const" in variant else None)
        if not is_array(values) or not all(isinstance(value, str) for value in values):
            return None
        texts += values
    return [*dict.fromkeys(str(text) for text in texts)]


def _of_type(values: list[JsonValue], kind: str) -> list[JsonValue]:
    match kind:
        case "boolean":
            return [value for value in values if isinstance(value, bool)]
        case "integer":
            return [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
        case "number":
            return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        case "string":
            return [value for value in values if isinstance(value, str)]
        case "null":
            return [value for value in values if value is None]
        case _:
            return []


def _told(key: str, value: JsonValue) -> list[str]:
    """Values that Google has no keyword for, in words."""
    if key != "enum" or not is_array(value):
        return []
    text = ", ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
    return [f"One of: {text}."] if len(text) <= _MOST_TOLD else []
