"""The reader of a JSON object's start: strict, the same for every cut, and never in doubt about what is whole."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.normalizer.json_prefix import MAX_DEPTH, JsonPrefix

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)
NEARLY_JSON = st.text(st.sampled_from('{}[]:,"\\ \nu0019.-+eEtruefalsn\x01é'), max_size=24).map(lambda text: "{" + text)


def read(text: str) -> JsonPrefix:
    prefix = JsonPrefix()
    prefix.feed(text)
    return prefix


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1]))
def test_an_object_is_whole_at_its_last_character_and_not_before(value: Any, ascii_only: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    prefix = JsonPrefix()
    for char in text[:-1]:
        assert prefix.feed(char) == 1
        assert not prefix.whole
        assert not prefix.malformed
    prefix.feed(text[-1])
    assert prefix.whole


@given(NEARLY_JSON)
@example('{"":01}')
@example('{"":-}')
@example('{"":1e5}')
@example('{"":.5}')
@example('{"":1.}')
@example('{"a":1,}')
@example('{"\\x":1}')
@example('{"\\u00zz":1}')
@example('{"":tru}')
def test_it_takes_what_the_standard_parser_takes(text: str) -> None:
    prefix = JsonPrefix()
    end = prefix.feed(text)
    try:
        json.loads(text)
        valid = True
    except ValueError:
        valid = False
    assert (prefix.whole and not text[end:].strip(" \t\n\r")) == valid


@given(NEARLY_JSON)
def test_what_is_safe_parses_when_it_is_closed(text: str) -> None:
    prefix = read(text)
    if not prefix.malformed:
        json.loads(text[: prefix.safe] + prefix.closers)


@given(st.one_of(NEARLY_JSON, OBJECTS.map(json.dumps)), st.integers(0, 60))
def test_a_cut_changes_nothing(text: str, cut: int) -> None:
    whole, parts = read(text), JsonPrefix()
    if parts.feed(text[:cut]) == len(text[:cut]):
        parts.feed(text[cut:])
    assert facts(parts) == facts(whole)


def facts(prefix: JsonPrefix) -> tuple[int, str, bool, bool]:
    return prefix.safe, prefix.closers, prefix.whole, prefix.malformed


def test_it_stops_behind_the_object_and_before_what_cannot_follow() -> None:
    assert JsonPrefix().feed('{"a":1}) and so on') == len('{"a":1}')
    assert JsonPrefix().feed('{"a":1,}') == len('{"a":1,')


@pytest.mark.parametrize("extra", [0, 1])
def test_depth_is_bounded(extra: int) -> None:
    assert read('{"a":' * (MAX_DEPTH + extra)).malformed == bool(extra)
