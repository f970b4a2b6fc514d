"""Partition: what is system text, what is dialogue, and that nothing is lost between them."""

from typing import get_args

import pytest
from hypothesis import given

from schemas.context import ContextRole, ContextTag, ImagePart, StructuredContextItem, TextPart
from services.context.neutral.partition import SYSTEM_TAGS, Partitioned, partition
from tests.context.neutral.conftest import items, said, shown

PICTURE = ImagePart(mime_type="image/png", name="cat.png")


def item(role: ContextRole, *texts: str, tag: ContextTag | None = None) -> StructuredContextItem:
    return StructuredContextItem(role=role, tag=tag, parts=tuple(TextPart(text=text) for text in texts))


@pytest.mark.parametrize("tag", get_args(ContextTag))
def test_a_users_item_is_system_text_by_its_tag_alone(tag: ContextTag) -> None:
    told = {
        "system_humanizer_rules",
        "system_personality",
        "knowledge_server_info",
        "knowledge_server_emojis",
        "knowledge_server_stickers",
        "knowledge_server_memories",
    }
    assert bool(partition([item("user", "x", tag=tag)]).system) == (tag in told)
    assert partition([item("model", "x", tag=tag)]).dialogue
    assert partition([item("system", "x", tag=tag)]).system == ("x",)


def test_dialogue_keeps_its_order_whatever_its_tags() -> None:
    told = [
        item("user", "who is here", tag="knowledge_users_in_conversation"),
        item("user", "sample", tag="dialogue_sample"),
        item("model", "hello"),
        item("user", "note", tag="context_note_injection"),
    ]
    assert partition(told) == Partitioned((), tuple(told))


def test_the_texts_of_a_system_item_are_lines_and_items_without_text_vanish() -> None:
    told = [item("system", "a", "", "b"), item("system"), item("system", " \n"), item("user"), item("user", " ")]
    assert partition(told) == Partitioned(("a\nb",), ())


def test_a_picture_in_a_system_item_is_shown_by_a_user() -> None:
    both = StructuredContextItem(role="system", parts=(TextPart(text="our mascot:"), PICTURE), sender="Ada")
    split = partition([both, item("user", "hi")])
    assert split.system == ("our mascot:",)
    assert split.dialogue == (StructuredContextItem(role="user", parts=(PICTURE,), sender="Ada"), item("user", "hi"))


@given(items)
def test_nothing_with_text_and_no_medium_is_lost(told: list[StructuredContextItem]) -> None:
    split = partition(told)
    kept = sorted(line for text in [*split.system, *said(split.dialogue)] for line in text.split("\n") if line.strip())
    assert kept == sorted(line for text in said(told) for line in text.split("\n") if line.strip())
    assert shown(split.dialogue) == shown(told)
    assert not any(
        item.role == "system" or (item.role == "user" and item.tag in SYSTEM_TAGS) for item in split.dialogue
    )
    assert partition(split.dialogue).dialogue == split.dialogue
