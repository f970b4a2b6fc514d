"""The spill guard: each sentence of its rule, with what it cuts and what it leaves."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.normalizer.events import ThinkingDelta
from services.normalizer.guards.reasoning_spill import ReasoningContentSpillGuard, seam_in

CUT = [
    # an answer may begin behind the seam: upper case, caseless letter, emoji, quote, bracket
    ("wait.Actually yes", "Actually yes"),
    ("must do.Hello!", "Hello!"),
    ("wait.你好", "你好"),
    ("wait.مرحبا", "مرحبا"),
    ("wait.👋 hi", "👋 hi"),
    ("wait.\ud83d", "\ud83d"),
    ('wait."Hi"', '"Hi"'),
    ("wait.“Hi”", "“Hi”"),
    ("wait.(hi)", "(hi)"),
    ("wait.<:wave:1>", "<:wave:1>"),
    # more than one word before it
    ("g it out.hey master 👋", "hey master 👋"),
    ("then say it.ok", "ok"),
    # any mark that ends a sentence, also several
    ("so what?!Sure", "Sure"),
    ("so…Sure", "Sure"),
    # spaced sentences before a seam do not hide it, nor does code that is closed
    ("think. then do it.Hello", "Hello"),
    ("use `a.b` here.Hello", "Hello"),
    # a bare name with a dot is cut: accepted
    ("i like node.js", "js"),
]
LEFT = [
    "wait. Actually",  # a blank behind it: two sentences of the model's own
    "must do.\nHello",
    "must do.",
    "ok.sure thing",  # one word, and lower case goes on
    "hm...okay",
    "Hello there.World",  # does not start in lower case
    " must do.Hello",
    "你好。Hello.World",
    "`obj.Method` is it",
    "call `obj.Method` now",  # inside code
    "call `obj.Method",  # inside code that is still open
    "about 3.14 of it",  # a decimal point ends no sentence
    "no end at all",
    "",
]


@pytest.mark.parametrize(("text", "visible"), CUT)
def test_a_seam_is_cut_and_the_spill_is_thinking(text: str, visible: str, guarded: Callable[..., Any]) -> None:
    outcome = guarded(ReasoningContentSpillGuard(), [ThinkingDelta("I "), text])
    assert (outcome.text, outcome.thinking) == (visible, "I " + text.removesuffix(visible))


@pytest.mark.parametrize("text", LEFT)
def test_without_a_seam_nothing_changes(text: str, guarded: Callable[..., Any]) -> None:
    outcome = guarded(ReasoningContentSpillGuard(), [ThinkingDelta("I "), text])
    assert (outcome.text, outcome.thinking) == (text, "I ")


def test_only_the_first_visible_delta_after_reasoning_is_looked_at(guarded: Callable[..., Any]) -> None:
    deltas = ["so do.Hello", ThinkingDelta("x"), "ok ", "fine now.Hello"]
    assert guarded(ReasoningContentSpillGuard(), deltas).text == "so do.Hellook fine now.Hello"


def test_a_blank_delta_is_not_visible(guarded: Callable[..., Any]) -> None:
    assert guarded(ReasoningContentSpillGuard(), [ThinkingDelta("x"), "\n\n", "must do.Hi"]).text == "\n\nHi"


def test_a_signature_alone_is_no_reasoning(guarded: Callable[..., Any]) -> None:
    assert guarded(ReasoningContentSpillGuard(), [ThinkingDelta("", signature="s"), "must do.Hi"]).text == "must do.Hi"


@given(st.text() | st.text(st.sampled_from("aB .!`1")))
def test_a_seam_follows_a_sentence_end_and_no_blank(text: str) -> None:
    seam = seam_in(text)
    if seam:
        assert text[0].islower()
        assert text[seam - 1] in ".!?…"
        assert not text[seam].isspace()
        assert text[:seam].count("`") % 2 == 0
