"""Schemas of tools as JSON Schema providers take them: sound, self-contained, bounded, and no narrower than before."""

import json
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from inline_snapshot import snapshot

from services.context.tools.keywords import MOST_TEXT, Schema
from services.context.tools.schema_walk import MOST_CHARACTERS, MOST_DEPTH
from services.context.tools.schemas import ANTHROPIC_PROPERTY, sound_schema
from tests.context.tools.conftest import roots

SCREEN: Schema = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to look for", "minLength": 1},
        "category": {"type": "string", "enum": ["web", "news"], "default": "web"},
        "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 20},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "options": {"anyOf": [{"type": "object", "additionalProperties": False}, {"type": "null"}]},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def schemas_in(schema: object) -> list[dict[str, Any]]:
    """The schema and all objects inside of it, wherever they stand."""
    if isinstance(schema, dict):
        return [schema, *(inner for value in schema.values() for inner in schemas_in(value))]
    return [inner for value in schema for inner in schemas_in(value)] if isinstance(schema, list) else []


def depth_of(schema: object) -> int:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return 1 + max(map(depth_of, inner), default=0)


def test_a_sound_schema_stays_as_it_is() -> None:
    assert sound_schema(SCREEN).schema == SCREEN
    assert sound_schema(SCREEN).lost == ()


def test_references_are_put_in_place_without_loss() -> None:
    sound = sound_schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "from": {"$ref": "#/$defs/place"},
                "to": {"$ref": "#/$defs/place", "description": "where to"},
                "odd": {"$ref": "#/definitions/a~1b%20c"},
            },
            "$defs": {"place": {"$ref": "#/$defs/point"}, "point": {"type": "string", "description": "a place"}},
            "definitions": {"a/b c": {"type": "integer"}},
        }
    )
    assert sound.lost == ()
    assert sound.schema == snapshot(
        {
            "type": "object",
            "properties": {
                "from": {"type": "string", "description": "a place"},
                "to": {"type": "string", "description": "where to"},
                "odd": {"type": "integer"},
            },
        }
    )


def test_a_schema_that_contains_itself_ends_at_its_type() -> None:
    node: Schema = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
    sound = sound_schema({"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}})
    assert sound.lost == ("recursive $ref",)
    assert sound.schema["properties"] == snapshot(
        {"root": {"type": "object", "properties": {"children": {"type": "array", "items": {"type": "object"}}}}}
    )


@pytest.mark.parametrize("ref", ["https://example.com/schema.json", "#anchor", "#/nowhere", "#/type", "#/required/x"])
def test_a_reference_to_nowhere_means_anything(ref: str) -> None:
    sound = sound_schema({"type": "object", "properties": {"a": {"$ref": ref, "title": "A"}}, "required": ["a"]})
    assert sound.schema["properties"] == {"a": {"title": "A"}}
    assert sound.lost == ("$ref",)


@pytest.mark.parametrize(
    ("given", "sound"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, {"exclusiveMinimum": 3}),
        ({"maximum": 3, "exclusiveMaximum": False}, {"maximum": 3}),
        (
            {"type": "array", "items": [{"type": "string"}]},
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {}},
        ),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "any"}, {}),
        ({"type": ["string", "string"]}, {"type": "string"}),
        ({"enum": ["a", "a", "b"]}, {"enum": ["a", "b"]}),
        ({"enum": []}, {}),
        ({"const": None}, {"enum": [None]}),
        ({"minLength": -1, "maxLength": 2.0}, {"maxLength": 2}),
        ({"anyOf": [], "description": 7}, {}),
        ({"x-odd": 1, "$comment": "no"}, {}),
    ],
)
def test_older_forms_become_todays_and_what_is_no_keyword_goes(given: Schema, sound: Schema) -> None:
    assert sound_schema({"type": "object", "properties": {"a": given}}).schema["properties"] == {"a": sound}


def test_the_root_is_an_object_without_alternatives() -> None:
    sound = sound_schema(
        {
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
            "anyOf": [
                {"properties": {"title": {"type": "string"}, "id": {"type": "string"}}, "required": ["title", "id"]},
                {"properties": {"text": {"type": "string"}}, "required": ["text", "title"]},
            ],
            "allOf": [{"properties": {"page": {"type": "integer"}}, "required": ["page"]}],
            "not": {"required": ["x"]},
        }
    )
    assert sound.lost == ("anyOf at the root", "allOf at the root", "not at the root")
    assert sound.schema == snapshot(
        {
            "properties": {
                "id": {"type": "integer"},
                "page": {"type": "integer"},
                "title": {"type": "string"},
                "text": {"type": "string"},
            },
            "type": "object",
            "required": ["id", "page", "title"],
        }
    )


@pytest.mark.parametrize(
    "given", [{}, {"type": "object"}, {"type": ["object", "null"]}, {"type": "string"}, {"type": "array"}]
)
def test_a_root_that_is_no_object_becomes_one(given: Schema) -> None:
    assert sound_schema(given).schema == {"type": "object", "properties": {}}
    assert bool(sound_schema(given).lost) == (given.get("type") in ("string", "array"))


def test_properties_that_a_provider_does_not_take_are_left_out_at_any_depth() -> None:
    inner: Schema = {"type": "object", "properties": {"$top": {}, "x.y": {}}, "required": ["$top", "x.y"]}
    sound = sound_schema(
        {"type": "object", "properties": {"a b": {}, "in": inner}, "required": ["a b"]}, ANTHROPIC_PROPERTY
    )
    assert sound.lost == ("names of properties",)
    assert sound.schema == snapshot(
        {
            "type": "object",
            "properties": {"in": {"type": "object", "properties": {"x.y": {}}, "required": ["x.y"]}},
        }
    )


def test_a_very_deep_schema_is_cut_where_it_becomes_too_deep() -> None:
    schema: Schema = {"type": "string"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
    sound = sound_schema(schema)
    assert sound.lost == ("depth",)
    assert depth_of(sound.schema) <= 2 * MOST_DEPTH + 2
    json.dumps(sound.schema)


def test_a_deep_default_is_left_out() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    sound = sound_schema({"type": "object", "properties": {"a": {"default": value, "enum": [value, "b"]}}})
    assert sound.schema["properties"] == {"a": {"enum": ["b"]}}


HOSTILE: dict[str, Schema] = {
    "references that double": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/20"}},
        "$defs": {
            "0": {"type": "string"},
            **{str(n): {"anyOf": [{"$ref": f"#/$defs/{n - 1}"}] * 2} for n in range(1, 21)},
        },
    },
    "a wide schema that contains itself": {
        "type": "object",
        "properties": {f"p{n}": {"$ref": "#"} for n in range(20_000)},
    },
    "a wide target": {
        "type": "object",
        "properties": {f"p{n}": {"$ref": "#/$defs/wide"} for n in range(2_000)},
        "$defs": {"wide": {f"x{n}": 1 for n in range(50_000)}},
    },
    "a long chain": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/0"}},
        "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(5_000)},
    },
    "long texts": {"type": "object", "description": "x" * 10**6, "properties": {"y" * 10**6: {"title": "z" * 10**6}}},
    "a wide enum": {"type": "object", "properties": {"a": {"enum": [str(n) for n in range(200_000)]}}},
    "many empty alternatives": {"type": "object", "properties": {"a": {"anyOf": [{}] * 200_000}}},
    "long references": {"type": "object", "properties": {f"p{n}": {"$ref": "#" + "/a" * 20_000} for n in range(500)}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_costs_little_and_stays_small(name: str) -> None:
    began = time.process_time()
    sound = sound_schema(HOSTILE[name])
    assert time.process_time() - began < 2
    assert sound.lost or name == "long texts"
    assert len(json.dumps(sound.schema)) < 2 * MOST_CHARACTERS
    jsonschema.Draft202012Validator.check_schema(sound.schema)


def test_long_descriptions_are_cut() -> None:
    described = sound_schema({"type": "object", "description": "x" * 10_000}).schema["description"]
    assert described == "x" * MOST_TEXT


@given(roots)
def test_whatever_comes_in_is_a_sound_schema_afterwards_and_stays_one(root: Schema) -> None:
    sound = sound_schema(root, ANTHROPIC_PROPERTY)
    jsonschema.Draft202012Validator.check_schema(sound.schema)
    json.dumps(sound.schema, allow_nan=False)
    assert sound.schema["type"] == "object"
    assert isinstance(sound.schema["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "enum", "not", "$ref"} & set(sound.schema)
    for schema in schemas_in(sound.schema):
        assert "$ref" not in schema
        assert schema.get("type") != "array" or "items" in schema
        if isinstance(schema.get("properties"), dict):
            assert all(ANTHROPIC_PROPERTY.fullmatch(name) for name in schema["properties"])
    again = sound_schema(sound.schema, ANTHROPIC_PROPERTY)
    assert again.schema == sound.schema
    assert again.lost == ()


@pytest.mark.parametrize(
    "instance",
    [
        {"query": "x"},
        {"query": "x", "category": "news", "limit": None, "tags": ["a"], "options": {}},
        {"query": "x", "options": None, "limit": 20},
    ],
)
def test_what_the_original_allowed_is_allowed(instance: dict[str, Any]) -> None:
    wrapped: Schema = {
        "$ref": "#/$defs/screen",
        "$defs": {"screen": SCREEN},
        "allOf": [{"required": ["query"]}],
        "if": {"required": ["limit"]},
        "then": {"required": ["category"]} if "category" in instance else {},
    }
    jsonschema.validate(instance, wrapped)
    jsonschema.validate(instance, sound_schema(wrapped).schema)
