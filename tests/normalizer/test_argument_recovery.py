"""Arguments that were cut off give the entries that came in full, and nothing else."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.chunks import FunctionCall
from services.normalizer.argument_recovery import parsed_arguments, recovered_arguments

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        ('{"a": 1, "b": 12345', {"a": 1}),
        ('{"a": 1, "b": 12345 ', {"a": 1, "b": 12345}),
        ('{"a": 1, "b": 1.', {"a": 1}),
        ('{"a": 1, "b": -', {"a": 1}),
        ('{"a": 1, "b": 1e', {"a": 1}),
        ('{"a": "x", "b": "unfin', {"a": "x"}),
        ('{"a": "x", "b": "\\u12', {"a": "x"}),
        ('{"a": "x", "b": "\\', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ('{"a": "x", "b"', {"a": "x"}),
        ('{"a": "x", "b', {"a": "x"}),
        ('{"a": "x",', {"a": "x"}),
        ('{"a": "x"', {"a": "x"}),
        ('{"a": true', {"a": True}),
        ('{"a": tru', {}),
        ('{"a": [1, 2', {"a": [1]}),
        ('{"a": [1, 2,', {"a": [1, 2]}),
        ('{"a": {"b": {"c": 1}, "d": [{"e": "f', {"a": {"b": {"c": 1}, "d": [{}]}}),
        ("{", {}),
    ],
)
def test_the_fragment_at_the_end_goes_and_containers_are_closed(raw: str, args: dict[str, Any]) -> None:
    assert recovered_arguments(raw) == args


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": 1,}', '{"a": 01', "{'a", '{"a" 1', '{"a": 1]', '{"a": 1}}', '{"a": NaN', "{a: 1", '{"a": "\n', '{"a": "\\x',
        "[1, 2", '"x', "12", "nul", "", " ", "Sure! {", '{"a": 1} {"b',
    ],
)  # fmt: skip
def test_malformed_text_is_refused(raw: str) -> None:
    assert recovered_arguments(raw) is None


@given(OBJECTS, st.data())
def test_nothing_is_recovered_that_the_model_did_not_write_in_full(value: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(value)
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]
    recovered = recovered_arguments(cut)
    assert recovered is not None
    assert is_part(recovered, value)


def is_part(part: Any, whole: Any) -> bool:
    """Equal, or the start of it: fewer entries, of which the last may itself be a part."""
    if isinstance(part, dict) and isinstance(whole, dict):
        pairs = list(zip(part.items(), whole.items(), strict=False))
        inner = all(key == other and is_part(one, two) for (key, one), (other, two) in pairs)
        return inner and len(pairs) == len(part) and all(one == two for (_, one), (_, two) in pairs[:-1])
    if isinstance(part, list) and isinstance(whole, list):
        inner = all(map(is_part, part, whole))
        return inner and len(part) <= len(whole) and part[:-1] == whole[: max(len(part) - 1, 0)]
    return type(part) is type(whole) and part == whole


def tool(raw: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": raw}}]}


def test_a_recovered_call_is_marked_and_the_stream_ends_as_it_did(chat: Callable[..., Any]) -> None:
    reply = chat(tool('{"a": "x", "b": "unf'), finish="tool_calls")
    (call,) = reply.calls
    assert call == FunctionCall(
        id="a", name="f", args={"a": "x"}, arguments_truncated=True, raw_arguments='{"a": "x", "b": "unf'
    )
    assert (reply.error, reply.metadata.finish_reason) == (None, "tool_calls")


def test_a_call_cut_by_the_token_limit_keeps_that_finish(chat: Callable[..., Any]) -> None:
    reply = chat(tool('{"a": "x", "b'), finish="length")
    assert (reply.calls[0].args, reply.error, reply.metadata.finish_reason) == ({"a": "x"}, None, "length")


def test_a_broken_stream_tells_what_had_come_of_its_calls(chat: Callable[..., Any]) -> None:
    reply = chat(tool('{"a": "x", "b'), finish=None)
    assert (reply.calls[0].args, reply.calls[0].arguments_truncated) == ({"a": "x"}, True)
    assert reply.error.code == "stream_incomplete"


@given(OBJECTS)
def test_whole_arguments_are_never_marked(value: dict[str, Any]) -> None:
    assert parsed_arguments(json.dumps(value)) == value
    assert recovered_arguments(json.dumps(value)) is None
