"""Schemas of tools in Google's dialect: its own SDK takes them, and what it has no word for is told or left out."""

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from inline_snapshot import snapshot

from services.context.tools.google_schema import GOOGLE_PROPERTY, google_schema
from services.context.tools.keywords import Schema
from services.context.tools.schemas import SoundSchema, sound_schema
from tests.context.tools.conftest import roots
from tests.context.tools.test_sound_schemas import HOSTILE, SCREEN


def converted(schema: Schema) -> SoundSchema:
    return google_schema(sound_schema(schema, GOOGLE_PROPERTY))


def one(schema: Schema) -> tuple[Any, tuple[str, ...]]:
    """One property's schema, and what was lost."""
    sound = converted({"type": "object", "properties": {"a": schema}})
    properties: Any = sound.schema["properties"]
    return properties["a"], sound.lost


def test_a_common_schema_keeps_all_that_google_can_say() -> None:
    sound = converted(SCREEN)
    assert sound.schema == snapshot(
        {
            "type": "OBJECT",
            "properties": {
                "query": {"type": "STRING", "minLength": 1, "description": "what to look for"},
                "category": {"type": "STRING", "enum": ["web", "news"]},
                "limit": {"type": "INTEGER", "minimum": 1, "maximum": 20, "nullable": True},
                "tags": {"type": "ARRAY", "items": {"type": "STRING"}},
                "options": {"type": "OBJECT", "nullable": True},
            },
            "required": ["query"],
        }
    )
    assert sound.lost == ("uniqueItems",)


@pytest.mark.parametrize(
    ("given", "told", "lost"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}, ()),
        ({"type": "null"}, {"type": "STRING", "nullable": True}, ()),
        (
            {"type": ["string", "integer", "null"], "description": "either", "minimum": 1},
            {
                "anyOf": [
                    {"type": "STRING", "description": "either", "nullable": True},
                    {"type": "INTEGER", "minimum": 1, "description": "either", "nullable": True},
                ]
            },
            ("minimum",),
        ),
        (
            {"oneOf": [{"type": "string"}, {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}, {"type": "BOOLEAN"}]},
            (),
        ),
        (
            {"anyOf": [{"type": "object", "properties": {"x": {"type": "string"}}}, {"type": "null"}], "title": "T"},
            {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}, "title": "T", "nullable": True},
            (),
        ),
        (
            {"anyOf": [{"const": "a"}, {"enum": ["b", "a"]}], "description": "which"},
            {"type": "STRING", "enum": ["a", "b"], "description": "which"},
            (),
        ),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}, ()),
        ({"const": 5}, {"type": "INTEGER", "description": "One of: 5."}, ("enum",)),
        (
            {"type": "integer", "enum": [1, 2, None], "description": "How many."},
            {"type": "INTEGER", "description": "How many. One of: 1, 2, null.", "nullable": True},
            ("enum",),
        ),
        ({"enum": ["a", "", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}, ("enum",)),
        ({"type": "string", "format": "email"}, {"type": "STRING"}, ("format",)),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}, ()),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "INTEGER", "minimum": 1}, ()),
        ({"type": "number", "exclusiveMaximum": 1}, {"type": "NUMBER", "maximum": 1}, ("exclusiveMaximum",)),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}, ("a missing type",)),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
            {"type": "ARRAY", "items": {"type": "NUMBER"}},
            ("prefixItems",),
        ),
        ({"properties": {"x": {"type": "string"}}, "required": ["x", "y"]}, None, ()),
        (
            {"type": "object", "properties": {"x": {"type": "string"}}, "anyOf": [{"required": ["x"]}]},
            {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}},
            ("anyOf",),
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}, ("additionalProperties",)),
        ({"type": "object", "additionalProperties": False, "default": {}}, {"type": "OBJECT"}, ()),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"x": {"type": "string"}}},
                    {"properties": {"y": {"type": "integer"}}},
                ]
            },
            {"type": "OBJECT", "properties": {"y": {"type": "INTEGER"}, "x": {"type": "STRING"}}},
            (),
        ),
        ({}, {"type": "STRING"}, ("a missing type",)),
        ({"minimum": 1, "multipleOf": 2}, {"type": "NUMBER", "minimum": 1}, ("multipleOf",)),
    ],
)
def test_what_google_has_no_word_for_is_said_otherwise_or_told(given: Schema, told: Any, lost: tuple[str, ...]) -> None:
    if told is None:
        told = {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}, "required": ["x"]}
    assert one(given) == (told, lost)


def test_long_lists_of_numbers_are_not_told() -> None:
    schema, lost = one({"type": "integer", "enum": [*range(1000)]})
    assert (schema, lost) == ({"type": "INTEGER"}, ("enum",))


def test_properties_have_names_that_google_takes() -> None:
    sound = converted({"type": "object", "properties": {"user-id": {"type": "string"}, "user_id": {"type": "string"}}})
    assert sound.schema["properties"] == {"user_id": {"type": "STRING"}}
    assert sound.lost == ("names of properties",)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_taken_by_the_sdk_too(name: str) -> None:
    _as_the_sdk_says_it(converted(HOSTILE[name]).schema)


@given(roots)
def test_whatever_comes_in_is_a_schema_that_the_sdk_sends_as_it_is(root: Schema) -> None:
    _as_the_sdk_says_it(converted(root).schema)


def _as_the_sdk_says_it(schema: Schema) -> None:
    """Its model forbids unknown fields; what it puts on the wire must be what was given to it."""
    read = types.Schema.model_validate(schema)
    assert read.model_dump(mode="json", by_alias=True, exclude_none=True) == schema
    _check(schema)


def _check(schema: Any) -> None:
    """What Google's server demands beyond its SDK."""
    if "anyOf" in schema:
        assert set(schema) == {"anyOf"}
        assert len(schema["anyOf"]) > 1
        for variant in schema["anyOf"]:
            assert "anyOf" not in variant
            _check(variant)
        return
    assert schema["type"] in ("OBJECT", "ARRAY", "STRING", "INTEGER", "NUMBER", "BOOLEAN")
    assert schema["type"] != "ARRAY" or "items" in schema
    assert "enum" not in schema or (schema["type"] == "STRING" and all(schema["enum"]))
    assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
    for name, inner in schema.get("properties", {}).items():
        assert GOOGLE_PROPERTY.fullmatch(name)
        _check(inner)
    if "items" in schema:
        _check(schema["items"])
