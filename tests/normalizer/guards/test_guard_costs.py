"""Hostile text costs what its length costs, and holds no more than it must."""

import time

import pytest

from schemas.chunks import Dialect
from schemas.prompts import KnownTool
from services.normalizer.argument_recovery import recovered_arguments
from services.normalizer.events import EndMark, Event, TextDelta, ThinkingDelta
from services.normalizer.guards.table import guards_for

TOOLS = [KnownTool(name="draw"), KnownTool(name="draw.now", needs_arguments=False), KnownTool(name="d" * 100)]
HOSTILE = [
    "<",
    "</",
    "<a:",
    "<think>",
    "</think>",
    "<" + "n" * 30,
    "`",
    "```json\n",
    "(",
    ")",
    "draw",
    "draw(",
    "draw({",
    'draw({"',
    'draw({"":{"":',
    'draw({"a":"draw({',
    'draw({"a":1})',
    "`draw({})`",
    "```\ndraw({})\n",
    '"',
    "\\",
    "<|tool_call>",
    "<|tool_call>call:f{",
    "<|tool_call>call:f{}<tool_call|>",
    '<|tool_call>call:f{a:<|"|>',
    "<start_function_call",
    "d" * 99 + "(",
    "d-" * 60,
    "a.",
    "a` .",
    "ab.c d",
]
GLMS = [
    "<tool_call>",
    "<tool_call>draw",
    "<tool_call>draw\n",
    "<tool_call>draw<arg_key>",
    "<tool_call>draw<arg_key>a</arg_key><arg_value>",
    "<tool_call>draw<arg_key>a</arg_key><arg_value>1</arg_value>",
    "<tool_call>draw<arg_key>a</arg_key><arg_value>[[1</arg_value></tool_call>",
    "<arg_key>",
    "</arg_value",
    " \n",
]


def cost_s(text: str, size: int, dialect: Dialect = "openai-chat") -> float:
    """Processor time for a text in deltas of this size, the least of two."""
    costs: list[float] = []
    for _ in range(2):
        guards = guards_for(dialect, "custom", TOOLS)
        assert guards is not None
        began = time.process_time()
        guards.read([ThinkingDelta("x")])
        for at in range(0, len(text), size):
            guards.read([TextDelta(text[at : at + size])])
        guards.read([EndMark()])
        costs.append(time.process_time() - began)
    return min(costs)


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["letters", "whole"])
@pytest.mark.parametrize("pattern", HOSTILE, ids=repr)
def test_eight_times_the_text_costs_about_eight_times_as_much(pattern: str, size: int) -> None:
    short = 1_200 if size == 1 else 8_000
    text = pattern * (8 * short // len(pattern))
    # Quadratic cost would be 64 times; the constant is for what a clock cannot tell apart.
    assert cost_s(text, size) < 24 * cost_s(text[:short], size) + 0.02


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["letters", "whole"])
@pytest.mark.parametrize("before", ["", "<tool_call>draw", "<tool_call>draw<arg_key>a</arg_key><arg_value>"], ids=repr)
@pytest.mark.parametrize("pattern", GLMS, ids=repr)
def test_eight_times_the_text_in_glms_notation_costs_about_eight_times_as_much(
    pattern: str, before: str, size: int
) -> None:
    short = 1_200 if size == 1 else 8_000
    text = before + pattern * (8 * short // len(pattern))
    assert cost_s(text, size, "novelai") < 24 * cost_s(text[:short], size, "novelai") + 0.02


@pytest.mark.parametrize("pattern", ["{", '{"a":', '{"a":[', '{"a":"x","a":', '{"a":"\\', "[", '"'], ids=repr)
def test_recovery_costs_what_the_text_costs(pattern: str) -> None:
    def cost(text: str) -> float:
        began = time.process_time()
        recovered_arguments(text)
        return time.process_time() - began

    text = pattern * (400_000 // len(pattern))
    assert cost(text) < 24 * cost(text[:50_000]) + 0.02


@pytest.mark.parametrize(
    "pattern", [one for one in HOSTILE if "draw({" not in one and "tool_call>" not in one], ids=repr
)
def test_no_more_is_held_back_than_an_anchor_may_be_long(pattern: str) -> None:
    guards = guards_for("openai-chat", "custom", TOOLS)
    assert guards is not None
    for _ in range(20):
        guards.read([TextDelta(pattern * 20)])
    held: list[Event] = guards.read([EndMark()])
    assert sum(len(getattr(event, "text", "")) for event in held) < 200
