"""Gemma's notation of calls in the text: calls whatever the cut, truncated ones told as such, the rest released."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.normalizer.guards.gemma_calls import MAX_CALL_CHARS, GemmaToolCalls

PIECES = ["<|tool_call>", "<tool_call|>", '<|"|>', "call:f", "{", "}", "a:", "1", ",", "true", "x", "<", '"', "[", "]"]
PIECES += ["<start_function_call>", "<end_function_call>", "<escape>", "\n"]


@pytest.mark.parametrize(
    ("text", "visible", "arguments"),
    [
        (
            'Hi <|tool_call>call:f{a:<|"|>x, {"y"}<|"|>,n:-1.5e3,b:true,l:[1,<|"|>z<|"|>],o:{k:null}}<tool_call|> bye',
            "Hi  bye",
            {"a": 'x, {"y"}', "n": -1500.0, "b": True, "l": [1, "z"], "o": {"k": None}},
        ),
        ("<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>", "", {"a": "x"}),
        ('<|tool_call>call:f{a:"x\\"y"}<tool_call|>', "", {"a": 'x"y'}),
        ('<|tool_call>\ncall: f { a : <|"|>two\nlines<|"|> }\n<tool_call|>', "", {"a": "two\nlines"}),
        ("<|tool_call>call:f{}<tool_call|>", "", {}),
        ('<|tool_call>call:f{a:<|"|>x<|"|>}', "", {"a": "x"}),
        ('<|tool_call>call:f{a:<|"|>x<|"|>}<tool_', "", {"a": "x"}),
    ],
)
def test_a_call_in_the_notation_becomes_a_call(
    text: str, visible: str, arguments: dict[str, Any], guarded: Callable[..., Any]
) -> None:
    outcome = guarded(GemmaToolCalls(), list(text))
    ((name, raw),) = outcome.calls
    assert (outcome.text, name, json.loads(raw)) == (visible, "f", arguments)


@pytest.mark.parametrize(
    ("rest", "args"),
    [
        ('a:<|"|>x<|"|>,b:<|"|>unf', {"a": "x"}),
        ("a:1,b:12", {"a": 1}),
        ("a:1,b:tr", {"a": 1}),
        ("a:1,bb", {"a": 1}),
        ('a:<|"', {}),
        ("", {}),
    ],
)
def test_a_call_that_the_stream_cut_off_is_told_as_truncated(
    rest: str, args: dict[str, Any], sse: Callable[..., bytes], play: Callable[..., Any]
) -> None:
    delta = {"choices": [{"delta": {"content": f"Hi <|tool_call>call:f{{{rest}"}}]}
    reply = play("openai-chat", [sse(delta, "[DONE]")], provider="custom:home")
    (call,) = reply.calls
    assert (call.name, call.args, call.arguments_truncated) == ("f", args, True)
    assert (reply.text, reply.error) == ("Hi ", None)


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_call>nonsense<tool_call|> ok",
        "<|tool_call>call:f{a:Paris}<tool_call|>",
        "<|tool_call>call:f{a:1}}<tool_call|>",
        "<|tool_call>call:f<tool_call|>",
        "<|tool_call>call:na",
        "Hi <|tool",
        "a < b <| c <start",
        "<tool_call|>",
    ],
)
def test_what_is_no_call_is_released_as_it_came(text: str, guarded: Callable[..., Any]) -> None:
    outcome = guarded(GemmaToolCalls(), list(text))
    assert (outcome.text, outcome.calls) == (text, [])


def test_calls_follow_each_other(guarded: Callable[..., Any]) -> None:
    text = "<|tool_call>call:f{a:1}<tool_call|>and<|tool_call>call:g{}<tool_call|>"
    assert guarded(GemmaToolCalls(), [text]).runs == [("call", "f"), ("text", "and"), ("call", "g")]


@pytest.mark.parametrize("over", [0, 1])
def test_a_call_of_endless_length_is_released(over: int, guarded: Callable[..., Any]) -> None:
    frame = 'call:f{a:<|"|><|"|>}<tool_call|>'
    filling = "x" * (MAX_CALL_CHARS - len(frame) + over)
    text = f'<|tool_call>call:f{{a:<|"|>{filling}<|"|>}}<tool_call|>'
    outcome = guarded(GemmaToolCalls(), [text[:1000], text[1000:], " on"])
    assert (outcome.text == text + " on", len(outcome.calls)) == (bool(over), 1 - over)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.lists(st.integers(0, 99), max_size=4))
def test_a_cut_anywhere_changes_nothing(guarded: Callable[..., Any], text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    whole = guarded(GemmaToolCalls(), [text])
    assert guarded(GemmaToolCalls(), pieces) == whole
    assert guarded(GemmaToolCalls(), list(text)) == whole
