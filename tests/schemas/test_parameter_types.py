"""Which parameters take texts: told by type, by listed values and by alternatives; of what says nothing, nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.parameter_types import json_type, text_parameters
from schemas.prompts import KnownTool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
KEYS = st.sampled_from(["type", "enum", "const", "anyOf", "oneOf"])
SCHEMAS = st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner | st.lists(inner, max_size=3), max_size=3))


@pytest.mark.parametrize(
    ("schema", "others"),
    [
        ({"type": "string"}, ()),
        ({"type": ["null", "string"]}, ("null",)),
        ({"type": ["string", "number"]}, ("integer", "number")),
        ({"enum": ["a", 1, None]}, ("integer", "null")),
        ({"const": "a"}, ()),
        ({"anyOf": [{"type": "string"}, {"oneOf": [{"type": "array"}, {"const": True}]}]}, ("array", "boolean")),
        ({"type": "integer"}, None),
        ({"anyOf": [{"type": "string"}, {}]}, None),
        ({}, None),
        ({"type": ["text", 1]}, None),
        (True, None),
    ],
)
def test_a_parameter_takes_texts_beside_what_its_schema_says(schema: Any, others: tuple[str, ...] | None) -> None:
    found = text_parameters({"type": "object", "properties": {"one": schema, "two": {"type": "boolean"}}})
    assert found == ({} if others is None else {"one": others})


@given(SCHEMAS, JSON)
def test_what_is_no_schema_has_no_texts_and_none_raises(schema: Any, parameters: Any) -> None:
    text_parameters(parameters)
    assert text_parameters({"properties": {"one": schema}}).keys() <= {"one"}


@given(JSON)
def test_a_value_is_of_the_type_that_a_schema_of_its_own_names(value: Any) -> None:
    found = text_parameters({"properties": {"one": {"enum": ["text", json.loads(json.dumps(value))]}}})
    assert found == {"one": tuple({json_type(value)} - {"string"})}


def test_a_tool_without_texts_is_written_as_before() -> None:
    assert KnownTool(name="now").model_dump() == {"name": "now", "needs_arguments": True}
    told = KnownTool.of("draw", {"properties": {"what": {"type": ["string", "null"]}}, "required": ["what"]})
    assert KnownTool.model_validate_json(told.model_dump_json()) == told
    assert told.texts == {"what": ("null",)}
