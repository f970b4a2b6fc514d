"""Calls that a model wrote out: found bare, in code and in fences; prose that only looks like one stays prose."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.prompts import KnownTool
from services.normalizer.events import Event, TextDelta
from services.normalizer.guards.verbatim_calls import MAX_CALL_CHARS, VerbatimToolCallParser

PICTURE = KnownTool.of("generate_image", {"type": "object", "properties": {"prompt": {}}, "required": ["prompt"]})
TOOLS = [PICTURE, KnownTool.of("now", {"type": "object", "properties": {}}), KnownTool(name="x-gen")]
CALL = 'generate_image({"prompt":"a cat","mode":"txt2img"})'
ARGS = {"prompt": "a cat", "mode": "txt2img"}
PIECES = ["`", "```", "\n", " ", "generate_image", "generate_image(", "now", "(", ")", "{", "}", '"', "a", '{"a":1}']
PIECES += ["x-gen", "_", "\\", ",", "json", "now()", "ж"]


def calls(outcome: Any) -> list[tuple[str, Any]]:
    return [(name, json.loads(arguments)) for name, arguments in outcome.calls]


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        (CALL, ""),
        (f"Fine. {CALL}", "Fine. "),
        (f"Fine. `{CALL}`", "Fine. "),
        (f"Fine. ``{CALL}`` So.", "Fine.  So."),
        (f"Fine.\n```\n{CALL}\n```\nSo.", "Fine.\n\nSo."),
        (f"Fine.\n```json\n{CALL}\n```", "Fine.\n"),
        (f"Fine.\n```{CALL}```", "Fine.\n"),
        (f"`{CALL}", ""),
        (f"```\n# first\n{CALL}\n```", "```\n# first\n\n```"),
        (f"```\n{CALL}\n# then\n```", "```\n\n# then\n```"),
        (f"はい{CALL}", "はい"),
        (f"tools.{CALL}", "tools."),
        ('generate_image ( {"prompt":"a cat","mode":"txt2img"} )', ""),
        (f"generate_image is it: {CALL}", "generate_image is it: "),
        (f"generate_image (it makes art) {CALL}", "generate_image (it makes art) "),
        (f"generate_image({{oops\n{CALL}", "generate_image({oops\n"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_call_is_found_and_the_rest_is_text(text: str, visible: str, size: int, guarded: Callable[..., Any]) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    outcome = guarded(VerbatimToolCallParser(TOOLS), pieces)
    assert (outcome.text, calls(outcome)) == (visible, [("generate_image", ARGS)])


@pytest.mark.parametrize(
    "text",
    [
        "You can use generate_image (it makes art).",
        "generate_image()",
        "generate_image('a cat')",
        'generate_image("a cat")',
        'generate_image({"prompt":"a"},{"b":1})',
        'generate_image([{"prompt":"a"}])',
        'generate_image({"prompt":"a",})',
        "generate_image({'prompt':'a'})",
        'generate_image(prompt="a cat")',
        f"my_{CALL}",
        'generate_imagery({"prompt":"a"})',
        'other_tool({"prompt":"a"})',
        'generate_image({"prompt":"a cat"',
        'generate_image({"prompt":"a cat"}',
        'generate_image({"prompt":"never closed)',
        'generate_image\n({"prompt":"a"})',
        "generate_image",
        "`generate_ima",
        "```\ngenerate_image",
        f"generate_image(see {CALL})",
        f'generate_image({{"prompt": {CALL}}})',
        f"generate_image(x (y) {CALL})",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_whole_call_is_released_as_it_came(text: str, size: int, guarded: Callable[..., Any]) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    outcome = guarded(VerbatimToolCallParser(TOOLS), pieces)
    assert (outcome.text, outcome.calls) == (text, [])


@pytest.mark.parametrize("inside", ["a cat)", "((", ':-) \\" )', "generate_image({", "`)`", "\\u0029 \\\\"], ids=repr)
def test_quotes_hide_parentheses(inside: str, guarded: Callable[..., Any]) -> None:
    outcome = guarded(VerbatimToolCallParser(TOOLS), list(f'`generate_image({{"prompt":"{inside}"}})`!'))
    assert (outcome.text, calls(outcome)) == ("!", [("generate_image", {"prompt": json.loads(f'"{inside}"')})])


def test_a_tool_that_needs_no_arguments_may_have_none(guarded: Callable[..., Any]) -> None:
    assert calls(guarded(VerbatimToolCallParser(TOOLS), ["It is now() or now( )"])) == [("now", {}), ("now", {})]
    assert guarded(VerbatimToolCallParser(TOOLS), ["now(then)"]).text == "now(then)"


def test_a_fence_of_several_calls_vanishes(guarded: Callable[..., Any]) -> None:
    outcome = guarded(VerbatimToolCallParser(TOOLS), list(f"```\n{CALL}\nnow()\nx-gen({{}})\n```"))
    assert (outcome.text, [name for name, _ in outcome.calls]) == ("", ["generate_image", "now", "x-gen"])


def test_text_before_a_call_goes_out_before_it_is_decided() -> None:
    parser = VerbatimToolCallParser(TOOLS)
    out: list[Event] = []
    parser.read(TextDelta('Fine, then. generate_image({"prompt":'), out)
    assert out == [TextDelta("Fine, then. ")]


@pytest.mark.parametrize("over", [0, 1])
def test_a_call_of_endless_length_is_released(over: int, guarded: Callable[..., Any]) -> None:
    filling = "x" * (MAX_CALL_CHARS - len('{"prompt":""})') + over)
    text = f'generate_image({{"prompt":"{filling}"}})'
    outcome = guarded(VerbatimToolCallParser(TOOLS), [text[:1000], text[1000:], " on"])
    assert (outcome.text == text + " on", len(outcome.calls)) == (bool(over), 1 - over)


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.lists(st.integers(0, 99), max_size=4))
def test_a_cut_anywhere_changes_nothing(guarded: Callable[..., Any], text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    whole = guarded(VerbatimToolCallParser(TOOLS), [text])
    assert guarded(VerbatimToolCallParser(TOOLS), pieces) == whole
    assert guarded(VerbatimToolCallParser(TOOLS), list(text)) == whole


@given(st.text(st.characters(exclude_characters="(")))
def test_text_without_a_parenthesis_is_never_changed(guarded: Callable[..., Any], text: str) -> None:
    assert guarded(VerbatimToolCallParser(TOOLS), list(text)).text == text
