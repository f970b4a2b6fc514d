"""GLM's notation of calls in the text: calls whatever the cut, texts by the tool's schema, the rest released."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.prompts import KnownTool
from services.normalizer.events import TextDelta, ThinkingDelta
from services.normalizer.guards.glm_calls import MAX_CALL_CHARS, GlmToolCalls

OPTIONAL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
PROPERTIES = {"q": {"type": "string"}, "o": OPTIONAL, "n": {"type": "number"}, "u": {"type": ["string", "integer"]}}
DRAW = KnownTool.of("draw", {"type": "object", "properties": PROPERTIES})
TOOLS = [DRAW, KnownTool(name="draw.now", needs_arguments=False)]
LINES = "two\nlines, 1 < 2 <b>, </tool_call>, <arg_key>"
PIECES = ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "draw", ".now"]
PIECES += ["\n", " ", "q", "n", "12", "null", "{", "}", '"', "<", "</", "é", "\ud83c", "\udf0d"]


def written(**arguments: str) -> str:
    pairs = [f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in arguments.items()]
    return f"<tool_call>draw\n{''.join(pairs)}</tool_call>"


@pytest.mark.parametrize(
    ("text", "visible", "arguments"),
    [
        (f"Hi\n{written(q='a cat', n='-1.5e3')}\nbye", "Hi\n\nbye", {"q": "a cat", "n": -1500.0}),
        ("<tool_call>draw\n</tool_call>", "", {}),
        ("<tool_call>draw</tool_call>", "", {}),
        ("<tool_call> \n draw <arg_key> n\n</arg_key><arg_value> 1\n</arg_value></tool_call>", "", {"n": 1}),
        (written(q=LINES), "", {"q": LINES}),
        (written(q="1", n="2"), "", {"q": "1", "n": 2}),
        (written(q='{"a": 1}'), "", {"q": '{"a": 1}'}),
        (written(q="null", o="null"), "", {"q": "null", "o": None}),
        (written(o="12"), "", {"o": "12"}),
        (written(u="12"), "", {"u": 12}),
        (written(u="true"), "", {"u": "true"}),
        (written(other='["x", {"y": null}]', another="plain"), "", {"other": ["x", {"y": None}], "another": "plain"}),
        (written(n="NaN"), "", {"n": "NaN"}),
        (written(q=" kept "), "", {"q": " kept "}),
        (written(q="") + written(), "", {"q": ""}),
        ("<tool_call>draw\n<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_", "", {"n": 1}),
    ],
)  # fmt: skip
def test_a_call_in_the_notation_becomes_a_call(
    text: str, visible: str, arguments: dict[str, Any], guarded: Callable[..., Any]
) -> None:
    outcome = guarded(GlmToolCalls(TOOLS), list(text))
    name, raw = outcome.calls[0]
    assert (outcome.text, name, json.loads(raw)) == (visible, "draw", arguments)


def completions(*texts: str) -> list[dict[str, Any]]:
    return [{"choices": [{"index": 0, "text": text}]} for text in texts]


@pytest.mark.parametrize(
    ("rest", "args"),
    [
        ("\n", {}),
        ("\n<arg_ke", {}),
        ("\n<arg_key>n</arg_key>\n", {}),
        ("\n<arg_key>n</arg_key>\n<arg_value>12", {}),
        ("\n<arg_key>n</arg_key>\n<arg_value>12</arg_value", {}),
        ("\n<arg_key>n</arg_key>\n<arg_value>12</arg_value>", {"n": 12}),
        ("\n<arg_key>n</arg_key>\n<arg_value>12</arg_value>\n<arg_key>q</arg_key><arg_value>un", {"n": 12}),
        ("\n<arg_key>n</arg_key>\n<arg_value>12</arg_value>\n<", {"n": 12}),
    ],
)
def test_a_call_that_the_stream_cut_off_is_told_as_truncated(
    rest: str, args: dict[str, Any], sse: Callable[..., bytes], play: Callable[..., Any]
) -> None:
    raw = sse(*completions(f"Hi <tool_call>draw{rest}"), "[DONE]")
    reply = play("novelai", [raw], provider="novelai", known_tools=TOOLS)
    (call,) = reply.calls
    assert (call.name, call.args, call.arguments_truncated) == ("draw", args, True)
    assert (reply.text, reply.error) == ("Hi ", None)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>paint\n</tool_call> ok",
        "<tool_call>drawing\n</tool_call>",
        "<tool_call>draw(1)</tool_call>",
        '<tool_call>{"name": "draw"}</tool_call>',
        "<tool_call></tool_call>",
        "<tool_call>draw\n<arg_value>1</arg_value></tool_call>",
        "<tool_call>draw\n<arg_key>n</arg_key>1</tool_call>",
        "<tool_call>draw\nplease",
        "<tool_call>draw",
        "<tool_call>dr",
        "Hi <tool",
        "a < b <t </tool_call> <arg_key>",
    ],
)
def test_what_is_no_call_is_released_as_it_came(text: str, guarded: Callable[..., Any]) -> None:
    outcome = guarded(GlmToolCalls(TOOLS), list(text))
    assert (outcome.text, outcome.calls) == (text, [])


def test_calls_follow_each_other_and_the_longest_name_counts(guarded: Callable[..., Any]) -> None:
    text = f"{written(n='1')}\n<tool_call>draw.now</tool_call>and<tool_call>draw<tool_call>draw</tool_call>"
    assert guarded(GlmToolCalls(TOOLS), [text]).runs == [
        ("call", "draw"),
        ("text", "\n"),
        ("call", "draw.now"),
        ("text", "and<tool_call>draw"),
        ("call", "draw"),
    ]


def test_calls_stand_behind_thoughts_in_a_whole_stream(sse: Callable[..., bytes], play: Callable[..., Any]) -> None:
    texts = [
        "<think>draw: <tool_call>dr",
        "aw\n</tool_call></th",
        "ink>\nI draw.\n<tool_",
        f"call>{written(q='1')[11:]}",
    ]
    finish = {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
    raw = sse(*completions(*texts), finish, "[DONE]")
    reply = play("novelai", [raw], provider="novelai", known_tools=TOOLS)
    assert (reply.text, reply.thinking) == ("\nI draw.\n", "draw: <tool_call>draw\n</tool_call>")
    assert (reply.arguments, reply.metadata.finish_reason) == ([("draw", {"q": "1"})], "tool_calls")
    untold = play("novelai", [raw], provider="novelai")
    assert (untold.text, untold.calls) == (f"\nI draw.\n{written(q='1')}", [])


def test_halves_of_a_pair_meet_in_an_argument_and_a_lone_one_is_replaced(
    sse: Callable[..., bytes], play: Callable[..., Any]
) -> None:
    texts = ['<tool_call>draw<arg_key>n</arg_key><arg_value>["\ud83c', '\udf0d"]</arg_value><arg_key>q</arg_key>']
    raw = sse(*completions(*texts, "<arg_value>\ud83c</arg_value></tool_call>"), "[DONE]")
    reply = play("novelai", [raw], provider="novelai", known_tools=TOOLS)
    assert reply.arguments == [("draw", {"n": ["🌍"], "q": "\ufffd"})]


@pytest.mark.parametrize("over", [0, 1])
def test_a_call_of_endless_length_is_released(over: int, guarded: Callable[..., Any]) -> None:
    frame = written(q="").removeprefix("<tool_call>")
    text = written(q="x" * (MAX_CALL_CHARS - len(frame) + over))
    outcome = guarded(GlmToolCalls(TOOLS), [text[:1000], text[1000:], " on"])
    assert (outcome.text == text + " on", len(outcome.calls)) == (bool(over), 1 - over)


def test_text_without_a_mark_passes_as_it_is() -> None:
    guard, event, out = GlmToolCalls(TOOLS), TextDelta("no mark in it"), []
    guard.read(event, out)
    assert (guard.is_idle, out[0] is event) == (True, True)
    guard.read(TextDelta("<tool_call>draw\n"), out)
    assert not guard.is_idle
    guard.read(ThinkingDelta("hm"), out)
    guard.read(TextDelta("</tool_call>"), out)
    assert guard.is_idle


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.lists(st.integers(0, 99), max_size=4))
def test_a_cut_anywhere_changes_nothing(guarded: Callable[..., Any], text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    whole = guarded(GlmToolCalls(TOOLS), [text])
    assert guarded(GlmToolCalls(TOOLS), pieces) == whole
    assert guarded(GlmToolCalls(TOOLS), list(text)) == whole


ARGUMENTS = st.dictionaries(st.sampled_from(["q", "o", "n", "x"]), st.text('ab<>/{}[]"12\n é', max_size=12), max_size=3)


@given(ARGUMENTS, st.text("ab <\n", max_size=8), st.lists(st.integers(0, 400), max_size=4))
def test_a_call_is_read_at_every_cut(
    guarded: Callable[..., Any], told: dict[str, str], around: str, cuts: list[int]
) -> None:
    text = f"{around}{written(**told)}{around}"
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    outcome = guarded(GlmToolCalls(TOOLS), [text[start:end] for start, end in pairwise(edges)])
    ((name, raw),) = outcome.calls
    assert (outcome.text, name, json.loads(raw).keys()) == (around * 2, "draw", told.keys())
