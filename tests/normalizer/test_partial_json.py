"""Previews of arguments: whatever has come, as an object, and never an exception."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.normalizer.partial_json import parse_partial_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ('{"city": "Par', {"city": "Par"}),
        ('{"days": 12', {"days": 12}),
        ('{"a": {"b": [1, "x', {"a": {"b": [1, "x"]}}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("[1", {}),
        ('{"a": 1,}', {}),
        (b'{"a": "\xff', {}),
    ],
)
def test_what_has_come_so_far_is_shown(raw: str | bytes, shown: dict[str, Any]) -> None:
    assert parse_partial_json(raw) == shown


@given(OBJECTS)
def test_the_preview_of_the_whole_is_the_whole(value: dict[str, Any]) -> None:
    assert parse_partial_json(json.dumps(value)) == value


@given(st.text() | st.binary())
def test_nothing_raises(raw: str | bytes) -> None:
    assert isinstance(parse_partial_json(raw), dict)


def test_deep_nesting_is_shown_as_nothing() -> None:
    assert parse_partial_json('{"a":' * 100_000) == {}
