"""What holds of every request for Anthropic's messages."""

import re
from itertools import pairwise
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from schemas.context import ImagePart, NeutralContext, OmittedPart
from services.context.failures import EveryImageFailed
from services.context.render import render as build
from services.context.rendered import BlobText, Rendered
from tests.context.native.making import CLAUDE, model
from tests.context.native.strategies import contexts, patient, said_texts, stand_in_order

PARAMS: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
TARGETS = st.sampled_from(
    [CLAUDE, model(CLAUDE, "claude-sonnet-4-6"), model(CLAUDE, "claude-opus-5-5", sees_images=False)]
)


@st.composite
def requests(draw: st.DrawFn) -> tuple[NeutralContext, Rendered]:
    context, target = draw(contexts), draw(TARGETS)
    try:
        return context, build(context, target)
    except EveryImageFailed:
        assume(False)
        raise


def blocks(turn: dict[str, Any]) -> list[dict[str, Any]]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def bears_tools(turn: dict[str, Any]) -> bool:
    return any(block["type"] in ("tool_use", "tool_result") for block in blocks(turn))


@patient
@given(requests())
def test_roles_alternate_outside_tool_boundaries_and_a_users_turn_comes_first(
    made: tuple[NeutralContext, Rendered],
) -> None:
    messages: Any = made[1].body["messages"]
    assert messages[0]["role"] == "user"
    for one, other in pairwise(messages):
        assert one["role"] != other["role"] or bears_tools(one) or bears_tools(other)


@patient
@given(requests())
def test_all_that_was_said_is_there_in_its_order(made: tuple[NeutralContext, Rendered]) -> None:
    messages: Any = made[1].body["messages"]
    prose = "\n".join(block["text"] for turn in messages for block in blocks(turn) if block["type"] == "text")
    assert stand_in_order(said_texts(made[0]), prose)


@patient
@given(requests())
def test_every_call_has_one_result_in_the_turn_that_follows_and_results_come_first(
    made: tuple[NeutralContext, Rendered],
) -> None:
    messages: Any = made[1].body["messages"]
    seen: set[str] = set()
    for position, turn in enumerate(messages):
        calls = [block["id"] for block in blocks(turn) if block["type"] == "tool_use"]
        if calls:
            answer = blocks(messages[position + 1])
            assert [block["tool_use_id"] for block in answer[: len(calls)]] == calls
            assert all(block["type"] != "tool_result" for block in answer[len(calls) :])
        for call in calls:
            assert re.fullmatch(r"[A-Za-z0-9_-]+", call)
            assert call not in seen
            seen.add(call)
    calls = sum(len(exchange.calls) for exchange in made[0].function_history)
    assert len(seen) == (calls if "tools" in made[1].body else 0)


@patient
@given(requests())
def test_no_block_is_blank_no_reply_begins_with_white_space_at_its_end_and_four_prefixes_are_cached_at_most(
    made: tuple[NeutralContext, Rendered],
) -> None:
    body: Any = made[1].body
    texts = [block["text"] for turn in body["messages"] for block in blocks(turn) if block["type"] == "text"]
    assert all(text.strip() for text in texts)
    if body["messages"][-1]["role"] == "assistant":
        assert texts[-1] == texts[-1].rstrip()
    assert str(body).count("cache_control") <= 4
    assert not {"temperature", "top_p"} <= body.keys()
    assert all(stop.strip() for stop in body.get("stop_sequences", ()))


@patient
@given(requests())
def test_the_sdks_request_models_take_it(made: tuple[NeutralContext, Rendered]) -> None:
    for turn in PARAMS.validate_python(_with_texts(made[1].body))["messages"]:
        content = turn["content"]
        assert isinstance(content, str) or [block["type"] for block in content]


def _with_texts(value: Any) -> Any:
    """The body as it is sent: a text where a blob's base64 will stand."""
    if isinstance(value, BlobText):
        return "AAAA"
    if isinstance(value, dict):
        return {key: _with_texts(entry) for key, entry in value.items()}
    return [_with_texts(entry) for entry in value] if isinstance(value, list) else value


@patient
@given(contexts)
def test_a_request_is_stopped_if_and_only_if_the_dialogue_has_pictures_and_shows_none(context: NeutralContext) -> None:
    dialogue = [part for item in context.items for part in item.parts]
    if not (context.tools and context.options.tools_enabled):
        # Calls without tools are told as dialogue, with the pictures that they returned.
        results = [result for exchange in context.function_history for result in exchange.results]
        dialogue += [image for result in results for image in result.images]
    pictures = [
        part
        for part in dialogue
        if isinstance(part, ImagePart) or (isinstance(part, OmittedPart) and part.medium == "image")
    ]
    if pictures and all(isinstance(part, OmittedPart) for part in pictures):
        with pytest.raises(EveryImageFailed):
            build(context, CLAUDE)
    else:
        build(context, CLAUDE)
