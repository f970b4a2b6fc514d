"""Deliberate tool mode: which words of a message ask for a tool, and how long one stays on offer."""

import time

import pytest

from services.context.tools.deliberate import deliberate_allowlist


def asks(message: str, *phrases: str) -> bool:
    return deliberate_allowlist(message, {"tool": phrases}, []) == {"tool"}


@pytest.mark.parametrize(
    ("message", "phrase", "found"),
    [
        ("please draw a cat", "draw", True),
        ("Please DRAW  me\na cat", "draw me a", True),
        ("a drawing of it", "draw", False),
        ("withdraw it", "draw", False),
        ("a drawing of it", "draw*", True),
        ("withdraw it", "draw*", False),
        ("overdrawn, then draw", "draw", True),
        ("so, draw!", "draw", True),
        ("what is c++?", "c++", True),
        ("\uff44\uff52\uff41\uff57 it", "draw", True),
        ("请帮我画一只猫", "画一只", True),
        ("ねこの絵を描いて", "絵を描", True),
        ("그림그려줘", "그려", True),
        ("anything", "", False),
        ("anything", "*", False),
        ("anything", "  ", False),
        ("a (nice) day", "(nice)", True),
        ("aXb", "a.b", False),
    ],
)
def test_a_phrase_is_found_as_whole_words_and_cjk_anywhere(message: str, phrase: str, found: bool) -> None:
    assert asks(message, phrase) == found


def test_any_phrase_of_any_language_will_do() -> None:
    assert asks("zeichne eine Katze", "draw", "zeichne", "画")


def test_tools_that_succeeded_stay_for_some_turns() -> None:
    succeeded = [{"a"}, set[str](), {"b"}, {"c"}, {"d"}]
    assert deliberate_allowlist("x", {}, succeeded) == {"a", "b", "c"}
    assert deliberate_allowlist("x", {}, succeeded, turns=0) == set()
    assert deliberate_allowlist("x", {"e": ["x"]}, succeeded, turns=1) == {"a", "e"}
    assert len(deliberate_allowlist("x", {}, [{str(turn)} for turn in range(50)], turns=50)) == 10


def test_a_hostile_message_costs_little() -> None:
    began = time.process_time()
    assert not asks("a" * 10**6, *("a" * 50 + "!" for _ in range(200)))
    assert time.process_time() - began < 2
