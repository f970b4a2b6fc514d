"""Think blocks become thinking, whatever namespace they have and however they were cut."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.normalizer.events import Event, TextDelta
from services.normalizer.guards.think_blocks import ThinkBlockContentStripper

TAGS = ["<think>", "</think>", "<mm:think>", "</ns:THINK>", "<thinking>", "<", ">", "/", ":", "think", "mm", "text"]
TAGS = ["<think>", "</think>", "<mm:think>", "</ns:THINK>", "<thinking>", "<", ">", "/", ":", "think", "mm", "text"]
NEARLY_TAGS = st.lists(st.sampled_from(TAGS), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "visible", "thinking"),
    [
        ("<think>deep</think>ok", "ok", "deep"),
        ("a<mm:think>b</mm:think>c<ns:think>d</ns:think>e", "ace", "bd"),
        ("<Think>a</THINK>b", "b", "a"),
        ("a</think>b", "ab", ""),
        ("<think>never closed", "", "never closed"),
        ("<mm:think>a</think>b", "b", "a"),
        ("<think>a<think>b</think>c</think>d", "cd", "ab"),
        ("hello <thi", "hello <thi", ""),
        ("<think>a</thi", "", "a</thi"),
        ("<thinking>a</thinking>", "<thinking>a</thinking>", ""),
        ("<think x=1>a", "<think x=1>a", ""),
        ("1 < 2 <3 <:wave:1>", "1 < 2 <3 <:wave:1>", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_what_stands_in_a_block_is_thinking_and_tags_vanish(
    text: str, visible: str, thinking: str, size: int, guarded: Callable[..., Any]
) -> None:
    outcome = guarded(ThinkBlockContentStripper(), [text[at : at + size] for at in range(0, len(text), size)])
    assert (outcome.text, outcome.thinking) == (visible, thinking)


@given(NEARLY_TAGS | st.text(), st.lists(st.integers(0, 60), max_size=5))
def test_a_cut_anywhere_changes_nothing(guarded: Callable[..., Any], text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    whole = guarded(ThinkBlockContentStripper(), [text])
    assert guarded(ThinkBlockContentStripper(), pieces) == whole
    assert guarded(ThinkBlockContentStripper(), list(text)) == whole


@given(NEARLY_TAGS | st.text())
def test_only_what_may_become_a_tag_is_held_back(text: str) -> None:
    guard = ThinkBlockContentStripper()
    out: list[Event] = []
    guard.read(TextDelta(text), out)
    held: list[Event] = []
    guard.close(held)
    rest = "".join(getattr(event, "text", "") for event in held)
    assert not rest or (rest.startswith("<") and len(rest) < 48)
