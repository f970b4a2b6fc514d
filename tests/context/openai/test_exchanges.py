"""Tool calls said again, with all that a provider wants back."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from schemas.context import Origin
from services.context.render import render
from tests.context.openai.conftest import (
    BLOB,
    GIF,
    PNG,
    PNG_URL,
    answered,
    called,
    context,
    exchange,
    messages,
    target,
)


def exchanged(*exchanges: Any, provider: Any = "custom", **facts: Any) -> Any:
    """The messages of the exchanges alone."""
    return messages(context(function_history=exchanges), target(provider, **facts))[4:]


def test_a_call_and_its_result_are_an_assistant_and_a_tool_turn() -> None:
    assert exchanged(exchange(text="I look.")) == snapshot(
        [
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"what":"the café"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
        ]
    )


def test_parallel_calls_stand_in_one_turn_and_their_results_in_the_calls_order() -> None:
    given = exchange(calls=(called(), called("call_2")), results=(answered("call_2"), answered("stray"), answered()))
    first, *results = exchanged(given)
    assert [call["id"] for call in first["tool_calls"]] == ["call_1", "call_2"]
    assert [result["tool_call_id"] for result in results] == ["call_1", "call_2"]


def test_a_call_without_a_result_says_so() -> None:
    answer = json.loads(exchanged(exchange(results=()))[1]["content"])
    assert (answer["status"], answer["tool_name"]) == ("tool_execution_failed", "look")


def test_arguments_that_were_cut_off_are_not_replayed() -> None:
    cut = called(arguments_truncated=True, raw_arguments='{"what":"th')
    assert exchanged(exchange(calls=(cut,)))[0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_turn_of_calls_alone_has_the_content_that_the_provider_wants() -> None:
    assert exchanged(exchange())[0]["content"] == ""
    assert exchanged(exchange(), provider="openrouter")[0]["content"] is None


def test_images_of_tools_follow_all_results_in_one_users_turn_and_nothing_else_does() -> None:
    results = (
        answered(images=(PNG,), note="[System: This is image media_1.]"),
        answered("call_2", images=(PNG, BLOB)),
    )
    made = exchanged(exchange(calls=(called(), called("call_2")), results=results))
    assert [message["role"] for message in made] == ["assistant", "tool", "tool", "user"]
    assert made[3]["content"][:3] == [
        {"type": "text", "text": "[System: This is image media_1.]"},
        {"type": "image_url", "image_url": {"url": PNG_URL}},
        {"type": "text", "text": "[System: The following images were returned by look.]"},
    ]
    assert "a cat" not in str(made[3])


def test_an_animation_of_a_tool_becomes_a_notice() -> None:
    made = exchanged(exchange(results=(answered(images=(GIF,)),)))
    assert made[-1]["content"] == snapshot(
        """\
[System: The following image was returned by look.]
[System: An image is not shown: animations cannot be shown.]\
"""
    )


def test_deepseek_gets_reasoning_content_with_every_call_even_if_there_is_none() -> None:
    thought = ({"type": "reasoning_content", "reasoning_content": "A cat?"},)
    first = exchanged(exchange(), exchange(replay=thought), provider="deepseek")
    assert [message.get("reasoning_content") for message in first if message["role"] == "assistant"] == ["", "A cat?"]
    assert "reasoning_content" not in exchanged(exchange())[0]
    assert exchanged(exchange(replay=thought))[0]["reasoning_content"] == "A cat?"


def test_a_routers_reasoning_details_go_back_unchanged_and_in_order() -> None:
    details = (
        {"type": "reasoning.text", "text": "A cat?", "signature": "sig", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "xyz", "id": None, "index": 1},
    )
    made = exchanged(exchange(replay=details), provider="openrouter")
    assert made[0]["reasoning_details"] == [*details]


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        ("openrouter", {"thought_signature": "sig"}),
        ("custom", {"extra_content": {"google": {"thought_signature": "sig"}}}),
    ],
)
def test_thought_signatures_of_calls_go_back_where_the_provider_reads_them(provider: str, place: Any) -> None:
    made = exchanged(exchange(calls=(called(thought_signature="sig"),)), provider=provider)
    assert place.items() <= made[0]["tool_calls"][0].items()


def test_mistrals_thinking_parts_stand_before_the_text() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "A cat?"}]}
    made = exchanged(exchange(text="I look.", replay=(thinking,)))
    assert made[0]["content"] == [thinking, {"type": "text", "text": "I look."}]


def test_calls_of_another_model_are_said_without_its_reasoning_in_ids_that_the_target_takes() -> None:
    foreign = exchange(
        calls=(called("call|1", thought_signature="sig"),),
        results=(answered("call|1"),),
        replay=({"type": "reasoning.text", "text": "A cat?"},),
        origin=Origin(provider="openrouter", dialect="openai-chat", model="another"),
    )
    made = render(context(function_history=(foreign,)), target())
    said, answer = made.body["messages"][4:]
    assert set(said) == {"role", "content", "tool_calls"}
    assert set(said["tool_calls"][0]) == {"id", "type", "function"}
    assert said["tool_calls"][0]["id"] == answer["tool_call_id"] != "call|1"
    assert {warning.code for warning in made.warnings} == {"history_sanitized"}
