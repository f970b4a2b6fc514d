"""What holds for any context: nothing is lost, nothing hidden is told, and switches change only what they are for."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.context import (
    ConversationUser,
    FunctionExchange,
    FunctionResult,
    GenerationOptions,
    ImagePart,
    InlineData,
    NeutralContext,
    StructuredContextItem,
    TextPart,
)
from services.catalog.target import ModelFacts, Target
from services.context.render import render
from services.context.strict_chat import OPENING
from tests.context.openai.conftest import called

HIDDEN = "hidden-person"
words = st.integers(0, 10**6).map(lambda number: f"w{number}.")
images = words.map(
    lambda word: ImagePart(mime_type="image/png", inline_data=InlineData(mime_type="image/png", data=word))
)
parts = st.lists(words.map(lambda word: TextPart(text=word)) | images, min_size=1, max_size=3).map(tuple)
items = st.lists(
    st.builds(
        StructuredContextItem,
        role=st.sampled_from(["user", "model"]),
        parts=parts,
        sender=st.just("Mira"),
        message_id=st.just("424242"),
        conversation_users=st.just((ConversationUser(target_id=HIDDEN, display_label=HIDDEN),)),
        participant_target_index=st.just(0),
    ),
    max_size=6,
).map(tuple)
histories = st.lists(
    st.builds(
        FunctionExchange,
        text=st.just("") | words,
        calls=st.just((called(),)),
        results=st.builds(
            FunctionResult,
            call_id=st.just("call_1"),
            name=st.just("look"),
            response=words.map(lambda word: {"seen": word}),
            images=st.lists(images, max_size=2).map(tuple),
            note=st.just("note"),
        ).map(lambda result: (result,)),
    ),
    max_size=2,
).map(tuple)
contexts = st.builds(
    NeutralContext,
    items=items,
    function_history=histories,
    current_turn_model_parts=st.lists(words.map(lambda word: TextPart(text=word)), max_size=1).map(tuple),
    options=st.builds(GenerationOptions, prefill=st.none() | words),
)


def body(
    context: NeutralContext, *, alternation: bool = False, prefix: bool = False, dialect: Any = "openai-chat"
) -> Any:
    facts = ModelFacts("m", sees_images=True, strict_role_alternation=alternation, supports_prefix_completion=prefix)
    return render(context, Target("custom", dialect, facts, "http://localhost:1")).body


def told(context: NeutralContext) -> list[str]:
    """The words and images of a context in the order in which a request has them."""
    out: list[str] = []
    for item in context.items:
        texts = [part.text for part in item.parts if isinstance(part, TextPart)]
        shown = [part.inline_data.data for part in item.parts if isinstance(part, ImagePart)]
        mixed = [part.text if isinstance(part, TextPart) else part.inline_data.data for part in item.parts]
        out += [*texts, *shown] if item.role == "model" else mixed
    for exchange in context.function_history:
        out += [exchange.text] if exchange.text else []
        out += [result.response["seen"] for result in exchange.results]
        out += [image.inline_data.data for result in exchange.results for image in result.images]
    return out


def in_order(needles: list[str], text: str) -> bool:
    at = 0
    for needle in needles:
        at = text.find(needle, at)
        if at < 0:
            return False
        at += len(needle)
    return True


@given(contexts, st.booleans(), st.booleans())
def test_every_word_and_image_is_told_in_order_and_nothing_hidden_is(
    context: NeutralContext, alternation: bool, prefix: bool
) -> None:
    for dialect in ("openai-chat", "openai-responses"):
        text = json.dumps(body(context, alternation=alternation, prefix=prefix, dialect=dialect))
        assert in_order(told(context), text)
        assert HIDDEN not in text
        assert "424242" not in text


@given(contexts)
def test_both_switches_off_leave_each_turn_as_it_is(context: NeutralContext) -> None:
    off = json.dumps(body(context))
    messages = body(context)["messages"]
    shown = [item for item in context.items if item.parts]
    moved = sum(
        any(isinstance(part, ImagePart) for part in item.parts)
        and any(isinstance(part, TextPart) for part in item.parts)
        for item in shown
        if item.role == "model"
    )
    of_items = [message for message in messages if message["role"] in ("user", "assistant")][: len(shown) + moved]
    assert len(of_items) == len(shown) + moved
    assert OPENING not in off
    assert '"prefix"' not in off


@given(contexts)
def test_each_switch_changes_only_what_it_is_for(context: NeutralContext) -> None:
    off, strict, marked = body(context), body(context, alternation=True), body(context, prefix=True)
    both = body(context, alternation=True, prefix=True)
    for one in (strict, marked, both):
        assert {key: one[key] for key in one if key != "messages"} == {
            key: off[key] for key in off if key != "messages"
        }
    assert [{key: value for key, value in message.items() if key != "prefix"} for message in marked["messages"]] == off[
        "messages"
    ]
    assert [
        {key: value for key, value in message.items() if key != "prefix"} for message in both["messages"]
    ] == strict["messages"]
    assert all("prefix" not in message for message in [*marked["messages"][:-1], *both["messages"][:-1]])


@given(contexts)
def test_alternation_changes_nothing_of_messages_that_alternate(context: NeutralContext) -> None:
    messages = body(context)["messages"]
    alternates = all(one["role"] != other["role"] for one, other in pairwise(messages))
    if alternates and (not messages or messages[0]["role"] == "user"):
        assert json.dumps(body(context, alternation=True)) == json.dumps(body(context))


@given(contexts)
def test_the_same_context_gives_the_same_bytes(context: NeutralContext) -> None:
    again = NeutralContext.model_validate_json(context.model_dump_json())
    assert json.dumps(body(again)) == json.dumps(body(context))
