"""Truncation: what goes first, what never goes, and that what is reserved is what is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.chunks import FunctionCall
from schemas.context import (
    ContextRole,
    ContextTag,
    FunctionExchange,
    FunctionResult,
    GenerationOptions,
    ImagePart,
    NeutralContext,
    StructuredContextItem,
    TextPart,
    ToolDeclaration,
)
from services.context.neutral.relocation import relocate_media
from services.context.neutral.truncation import Truncated, output_reserve, truncate
from tests.context.neutral.conftest import items


def item(
    role: ContextRole, text: str, tag: ContextTag | None = "dialogue_history", message_id: str | None = None
) -> StructuredContextItem:
    return StructuredContextItem(role=role, parts=(TextPart(text=text),), tag=tag, message_id=message_id)


def texts(context: NeutralContext) -> list[str]:
    return ["".join(part.text for part in item.parts if isinstance(part, TextPart)) for item in context.items]


def cut(*items: StructuredContextItem, tokens: int, retries: int = 0) -> Truncated:
    """Truncated to so many tokens."""
    window = -(-tokens * 10 // 9) + 100
    return truncate(NeutralContext(items=items), window=window, reserve=100, retries=retries)


A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.mark.parametrize(
    ("asked", "ceiling", "default", "reserve"),
    [(None, None, 4096, 4096), (100, None, 4096, 100), (9000, 8000, 4096, 8000), (None, 2000, 4096, 2000)],
)
def test_the_reserve_is_what_was_asked_for_within_the_models_ceiling(
    asked: int | None, ceiling: int | None, default: int, reserve: int
) -> None:
    options = GenerationOptions(max_output_tokens=asked)
    assert output_reserve(options, ceiling=ceiling, default=default) == reserve


def test_what_is_safe_is_nine_tenths_of_the_window_without_the_reserve() -> None:
    fitting = truncate(NeutralContext(items=(item("user", "x" * 360),)), window=200, reserve=100)
    assert (fitting.estimated_tokens, fitting.most_tokens, fitting.fits) == (90, 90, True)
    assert not truncate(NeutralContext(items=(item("user", "x" * 361),)), window=200, reserve=100).fits
    assert truncate(NeutralContext(items=(item("user", "x"),)), window=100, reserve=5000).most_tokens == 0


def test_the_oldest_user_goes_with_what_the_model_answered() -> None:
    told = (item("user", A), item("model", A), item("model", A), item("user", B), item("model", B), item("user", C))
    assert texts(cut(*told, tokens=60).context) == [A, A, A, B, B, C]
    short = cut(*told, tokens=59)
    assert texts(short.context) == [B, B, C]
    assert short.dropped == 3
    assert [(warning.code, warning.place) for warning in short.warnings] == [("history_truncated", "items[0..2]")]
    assert texts(cut(*told, tokens=29).context) == [C]


def test_the_newest_user_and_all_after_it_stay_even_if_they_do_not_fit() -> None:
    left = cut(item("user", A), item("user", B), item("model", C), tokens=1)
    assert texts(left.context) == [B, C]
    assert not left.fits


def test_what_is_no_history_stays() -> None:
    told = (
        item("system", A, None),
        item("user", A, "knowledge_server_info"),
        item("user", "sample", "dialogue_sample"),
        item("model", "sample", "dialogue_sample"),
        item("user", A),
        item("user", "note", "context_note_injection"),
        item("model", A),
        item("user", B),
        item("user", "directive", None),
    )
    assert texts(cut(*told, tokens=1).context) == [A, A, "sample", "sample", "note", B, "directive"]


def test_without_tags_everything_untagged_is_history() -> None:
    assert texts(cut(item("user", A, None), item("model", A, None), item("user", B, None), tokens=1).context) == [B]


def test_what_the_model_said_before_any_user_goes_first() -> None:
    assert texts(cut(item("model", A), item("user", B), item("user", C), tokens=20).context) == [B, C]


def test_a_models_pictures_go_with_its_words_and_are_not_taken_for_the_question() -> None:
    picture = ImagePart(mime_type="image/png")
    drawn = StructuredContextItem(
        role="model", parts=(TextPart(text=B), picture), tag="dialogue_history", message_id="2"
    )
    told = relocate_media([item("user", A, message_id="1"), drawn, item("user", C, message_id="3")])
    assert len(told) == 4
    assert texts(cut(*told, tokens=1).context) == [C]
    assert texts(cut(*told[:3], tokens=1).context)[0] == A


def test_each_retry_drops_two_more_pairs() -> None:
    told = tuple(item("user", str(number)) for number in range(6))
    assert texts(cut(*told, tokens=1000, retries=1).context) == ["2", "3", "4", "5"]
    assert texts(cut(*told, tokens=1000, retries=9).context) == ["5"]
    unknown = truncate(NeutralContext(items=told), window=None, reserve=100, retries=1)
    assert (texts(unknown.context), unknown.most_tokens, unknown.fits) == (["2", "3", "4", "5"], None, True)


def test_tools_calls_results_and_what_was_said_take_room_too() -> None:
    bare = NeutralContext(items=(item("user", A),))
    call = FunctionCall(id="1", name="look", args={"at": "x" * 100})
    result = FunctionResult(call_id="1", name="look", response={"seen": "y" * 200})
    full = bare.model_copy(
        update={
            "tools": (ToolDeclaration(name="look", description="z" * 400),),
            "function_history": (FunctionExchange(text="w" * 80, calls=(call,), results=(result,)),),
            "current_turn_model_parts": (TextPart(text="v" * 40),),
            "options": GenerationOptions(prefill="u" * 20),
        }
    )
    beside = (
        truncate(full, window=None, reserve=0).estimated_tokens
        - truncate(bare, window=None, reserve=0).estimated_tokens
    )
    assert 840 / 4 <= beside <= 840 / 4 + 60


@given(items, st.integers(0, 60), st.integers(0, 3))
def test_what_is_left_is_in_order_and_everything_protected_is_in_it(
    told: list[StructuredContextItem], window: int, retries: int
) -> None:
    context = NeutralContext(items=tuple(told))
    left = truncate(context, window=window, reserve=0, retries=retries)
    rest = iter(context.items)
    assert all(any(kept is before for before in rest) for kept in left.context.items)
    assert len(context.items) - len(left.context.items) == left.dropped
    dropped = [before for before in told if not any(before is kept for kept in left.context.items)]
    assert all(item.role != "system" and item.tag in (None, "dialogue_history") for item in dropped)
    again = truncate(left.context, window=window, reserve=0)
    assert retries or again.context == left.context
