"""Which parameters of a tool take a text, as its JSON Schema says: bare text that looks like JSON stays text there."""

from collections.abc import Iterable, Mapping
from typing import Literal, cast, get_args

JsonType = Literal["null", "boolean", "integer", "number", "string", "array", "object"]

_TYPES: Mapping[object, JsonType] = {name: name for name in get_args(JsonType)}
_WHOLE = frozenset[JsonType](("integer",))
_MOST_DEPTH = 8
"""Alternatives inside each other. What is deeper may be anything."""


def json_type(value: object) -> JsonType:
    """The type of a value that a JSON reader made."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def text_parameters(parameters: object) -> dict[str, tuple[JsonType, ...]]:
    """The parameters that take a text, each with the other types that it takes; not one of which the schema says nothing.

    Whatever is no schema has none.
    """
    found: dict[str, tuple[JsonType, ...]] = {}
    for name, schema in _object(_object(parameters).get("properties")).items():
        types = _types(schema)
        if "string" in types:
            found[name] = tuple(sorted(types - {"string"}))
    return found


def _types(schema: object, depth: int = 0) -> frozenset[JsonType]:
    """The types that the schema lets through; none where it does not say."""
    said = _object(schema)
    if depth == _MOST_DEPTH:
        return frozenset()
    if "type" in said:
        return _named(said["type"])
    if "const" in said:
        return frozenset[JsonType]((json_type(said["const"]),))
    if values := _list(said.get("enum")):
        return frozenset[JsonType](map(json_type, values))
    alternatives = [_types(one, depth + 1) for key in ("anyOf", "oneOf") for one in _list(said.get(key))]
    return frozenset[JsonType]().union(*alternatives) if all(alternatives) else frozenset()


def _named(names: object) -> frozenset[JsonType]:
    listed: Iterable[object] = [names] if isinstance(names, str) else _list(names)
    types = frozenset[JsonType](_TYPES[name] for name in listed if isinstance(name, str) and name in _TYPES)
    return types.union(_WHOLE) if "number" in types else types


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
