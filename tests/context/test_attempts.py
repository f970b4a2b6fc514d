"""Which key and model an attempt takes, what it gives up of a native request, and what is told of a request."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.attempts import AttemptPlan, Chosen, EarlierAttempt, Rung, Step
from services.context.attempt_facts import facts_of
from services.context.choosing import choose
from services.context.rungs import NOTICE, given_up, has_images, has_tools

A1, A2 = (Chosen(provider="p", model="a", credential=key) for key in ("1", "2"))
B1 = Chosen(provider="p", model="b", credential="1")
OWN = Chosen(provider="p", model="a", credential="own", source="personal")
CHAIN = (A1, A2, B1)
CHAT: dict[str, Any] = {
    "model": "a",
    "messages": [
        {"role": "system", "content": "be brief"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:1"}},
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:2"}},
            ],
        },
        {"role": "user", "content": "again"},
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
    "top_k": 40,
    "tools": [{"type": "function", "function": {"name": "draw"}}],
    "tool_choice": "auto",
}


def plan(step: Step, *tried: Chosen | None) -> AttemptPlan:
    earlier = tuple(
        EarlierAttempt(generation=number, outcome="error", chosen=chosen, ended_ms=1)
        for number, chosen in enumerate(tried, start=1)
    )
    return AttemptPlan(step=step, earlier=earlier)


@pytest.mark.parametrize(
    ("step", "tried", "chosen"),
    [
        ("first", (), A1),
        ("same", (A2,), A2),
        ("same", (None,), A1),
        ("key", (A1,), A2),
        ("key", (A1, A2), B1),
        ("key", (A1, A2, B1), None),
        ("model", (A1,), B1),
        ("model", (A1, A2, B1), None),
        ("key", (None,), A1),
        ("key", (OWN,), A1),
        ("model", (OWN,), A1),
    ],
)
def test_an_attempt_takes_what_its_plan_asks_for(step: Step, tried: tuple[Chosen, ...], chosen: Chosen | None) -> None:
    assert choose(plan(step, *tried), CHAIN) == chosen


def test_without_a_plan_the_first_is_taken_and_of_nothing_none() -> None:
    assert choose(None, CHAIN) == A1
    assert choose(plan("first"), ()) is None


@given(steps=st.lists(st.sampled_from(["key", "model"]), max_size=8))
def test_no_key_of_a_model_is_taken_twice(steps: list[Step]) -> None:
    tried = [A1]
    for step in steps:
        chosen = choose(plan(step, *tried), CHAIN)
        if chosen is None:
            break
        assert chosen not in tried
        tried.append(chosen)


def test_keys_are_left_out_also_inside_objects_and_the_body_given_is_not_changed() -> None:
    body = {"model": "a", "top_k": 1, "generationConfig": {"topK": 1, "topP": 2}}
    rung = Rung(without=("top_k", "generationConfig.topK", "absent", "model.absent", "absent.key"))
    assert given_up(body, rung) == {"model": "a", "generationConfig": {"topP": 2}}
    assert body == {"model": "a", "top_k": 1, "generationConfig": {"topK": 1, "topP": 2}}


def test_without_tools_nothing_speaks_of_them() -> None:
    assert given_up(CHAT, Rung(without_tools=True)).keys() == CHAT.keys() - {"tools", "tool_choice"}


def test_one_notice_stands_for_the_images_of_a_message() -> None:
    stripped = given_up(CHAT, Rung(without_images=True))
    assert stripped["messages"][1]["content"] == [{"type": "text", "text": NOTICE}, {"type": "text", "text": "look"}]
    assert [stripped["messages"][0], stripped["messages"][2]] == [CHAT["messages"][0], CHAT["messages"][2]]
    assert has_images(CHAT)
    assert not has_images(stripped)


@pytest.mark.parametrize(
    ("key", "message", "notice"),
    [
        ("messages", {"role": "user", "content": [{"type": "image", "source": {}}]}, {"type": "text", "text": NOTICE}),
        (
            "messages",
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image", "source": {}}]}]},
            {"type": "text", "text": NOTICE},
        ),
        (
            "input",
            {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]},
            {"type": "input_text", "text": NOTICE},
        ),
        ("contents", {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png"}}]}, {"text": NOTICE}),
        ("contents", {"role": "user", "parts": [{"fileData": {"fileUri": "x"}}]}, {"text": NOTICE}),
    ],
)
def test_images_are_known_in_every_dialect(key: str, message: dict[str, Any], notice: dict[str, Any]) -> None:
    body = {key: [message]}
    stripped = given_up(body, Rung(without_images=True))
    assert has_images(body)
    assert not has_images(stripped)
    assert notice in leaves(stripped)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value, *(leaf for inner in value.values() for leaf in leaves(inner))]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else []


def test_a_tools_schema_that_looks_like_an_image_is_none() -> None:
    assert not has_images({"messages": [], "tools": [{"type": "image"}]})


def test_what_was_set_unasked_is_given_up_first_and_what_the_reply_needs_never() -> None:
    facts = facts_of(A1, "openai-chat", CHAT, added=("stream_options", "absent"))
    assert (facts.droppable, facts.images, facts.tools) == (("stream_options", "top_k"), True, True)
    assert facts_of(A1, "openai-chat", CHAT, mandatory=("top_k",)).droppable == ("stream_options",)
    assert facts_of(A1, "openai-chat", {f"k{number}": 1 for number in range(99)}).droppable[-1] == "k63"


def test_options_of_a_google_body_are_given_up_one_by_one() -> None:
    body = {
        "contents": [],
        "generationConfig": {"topK": 40, "thinkingConfig": {"thinkingLevel": "LOW"}},
        "safetySettings": [],
    }
    facts = facts_of(A1, "google", body, mandatory=("generationConfig",), added=("safetySettings",))
    assert facts.droppable == ("safetySettings", "generationConfig.topK", "generationConfig.thinkingConfig")
    assert given_up(body, Rung(without=facts.droppable[1:]))["generationConfig"] == {}


def test_a_provider_decides_which_bare_refusals_degrade() -> None:
    def degrades(provider: str, dialect: Any = "openai-chat") -> tuple[str, ...]:
        return facts_of(Chosen(provider=provider, model="m"), dialect, {}).degrades

    assert degrades("openrouter") == ("bad_request", "bad_gateway")
    assert degrades("nvidia") == ("bad_request", "opaque_failure")
    assert degrades("custom:localhost") == ("bad_request",)
    assert degrades("anthropic", "anthropic") == ()


def test_tools_on_offer_are_seen() -> None:
    assert has_tools(CHAT)
    assert not has_tools({"tools": []})
