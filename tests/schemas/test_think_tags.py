"""One shape of a think tag for every stage that looks for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.think_tags import THINK_TAG, held_from, without_think_tags

TAGS = ["<think>", "</think>", "<mm:think>", "</ns:think>", "<Think>", "</a.b-c_1:THINK>"]
OTHERS = [
    "<thinking>",
    "<think >",
    "< think>",
    "<:think>",
    "<1:think>",
    "<a:b:think>",
    "<think",
    "<thin\u212a>",
    "think>",
]


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_is_seen_whole_and_held_at_every_letter_before(tag: str) -> None:
    assert THINK_TAG.fullmatch(tag)
    assert without_think_tags(f"a{tag}b") == "ab"
    assert [held_from(f"a{tag[:end]}") for end in range(1, len(tag))] == [1] * (len(tag) - 1)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_tag_stays(text: str) -> None:
    assert without_think_tags(text) == text


@given(st.text(st.sampled_from("<>/:thinkm a")))
def test_text_that_is_not_held_never_becomes_a_tag(text: str) -> None:
    end = held_from(text)
    for rest in ("<think>", "think>", "k>", ":think>", ">"):
        for tag in THINK_TAG.finditer(text + rest):
            assert tag.end() <= len(text) or tag.start() >= min(end, len(text))
