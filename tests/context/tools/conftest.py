"""What the tests of tools share: schemas of every sort, sound, odd and hostile."""

import json

from hypothesis import strategies as st
from pydantic import JsonValue

_NAMES = ["a", "b", "user-id", "$filter", "1st", "x.y", ""]
_SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, float("nan"), float("inf"), "", "a", "b"])
)
_TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null", "STRING", "any", ""])
_REFS = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/definitions/x", "other.json", "#anchor", "#/a/0"]
)
_JUNK = _SCALARS | st.lists(_SCALARS, max_size=2) | st.dictionaries(st.sampled_from(_NAMES), _SCALARS, max_size=2)


def _schemas(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    listed = st.lists(inner, max_size=3)
    named = st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3)
    sound: dict[str, st.SearchStrategy[JsonValue]] = {
        "type": _TYPES | st.lists(_TYPES, max_size=3),
        "$ref": _REFS,
        "$defs": named,
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", ".*"]), inner, max_size=1),
        "required": st.lists(st.sampled_from(_NAMES), max_size=3),
        "additionalProperties": st.booleans() | inner,
        "items": inner | listed,
        "prefixItems": listed,
        "anyOf": listed,
        "oneOf": listed,
        "allOf": listed,
        "not": inner,
        "if": inner,
        "enum": st.lists(_SCALARS, max_size=4),
        "const": _SCALARS,
        "default": _JUNK,
        "format": st.sampled_from(["date-time", "email", "int32", "float"]),
        "minimum": _SCALARS,
        "exclusiveMinimum": _SCALARS,
        "maxItems": _SCALARS,
        "minLength": _SCALARS,
        "nullable": st.booleans(),
        "description": st.sampled_from(["what it is", ""]),
        "title": st.just("Title"),
        "x-odd": _JUNK,
    }
    keyword = st.sampled_from(sorted(sound)).flatmap(
        lambda key: st.tuples(st.just(key), st.one_of(sound[key], sound[key], sound[key], _JUNK))
    )
    return st.lists(keyword, max_size=6).map(dict)


json_schemas = st.recursive(st.booleans() | st.just({}) | st.none(), _schemas, max_leaves=12)
roots = st.one_of(
    st.dictionaries(st.sampled_from(_NAMES), json_schemas, max_size=3).map(
        lambda properties: {"type": "object", "properties": properties}
    ),
    _schemas(json_schemas),
)


def is_finite(schema: JsonValue) -> bool:
    """Whether JSON can write it: a context refuses what it cannot."""
    try:
        json.dumps(schema, allow_nan=False)
    except ValueError:
        return False
    return True
