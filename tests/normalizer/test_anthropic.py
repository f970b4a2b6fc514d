"""What events of the messages stream mean, beyond what the recorded and the awkward streams show."""

from collections.abc import Callable
from typing import Any

import pytest

START = {
    "type": "message_start",
    "message": {"id": "m1", "model": "claude", "content": [], "usage": {"input_tokens": 3}},
}
STOP = {"type": "message_stop"}


def block(index: int, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def finish(reason: str, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


@pytest.fixture
def messages(play: Callable[..., Any], sse: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *events: play("anthropic", [sse(*events)])


def test_usage_counts_the_whole_prompt_and_the_last_report(messages: Callable[..., Any]) -> None:
    last = finish("end_turn", output_tokens=7, cache_read_input_tokens=100, cache_creation_input_tokens=20)
    usage = messages(START, finish("end_turn", output_tokens=2), last, STOP).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (123, 7, 130)
    assert (usage.cached_input_tokens, usage.cache_write_tokens) == (100, 20)


def test_thinking_blocks_are_kept_in_order_with_whole_signatures(messages: Callable[..., Any]) -> None:
    reply = messages(
        START,
        block(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="a"),
        delta(0, "thinking_delta", thinking="b"),
        delta(0, "signature_delta", signature="S"),
        delta(0, "signature_delta", signature="T"),
        {"type": "content_block_stop", "index": 0},
        block(1, type="redacted_thinking", data="X"),
        block(2, type="thinking", thinking="c", signature="U"),
        finish("end_turn"),
        STOP,
    )
    assert reply.thoughts == [("raw", "abc")]
    assert reply.metadata.replay == (
        {"type": "thinking", "thinking": "ab", "signature": "ST"},
        {"type": "redacted_thinking", "data": "X"},
        {"type": "thinking", "thinking": "c", "signature": "U"},
    )


def test_tools_that_the_provider_runs_are_no_calls(messages: Callable[..., Any]) -> None:
    reply = messages(
        START,
        block(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"q": 1}'),
        block(1, type="web_search_tool_result", content=[{"x": 1}]),
        block(2, type="tool_use", id="t", name="f", input={}),
        delta(2, "input_json_delta", partial_json='{"a": 1}'),
        finish("tool_use"),
        STOP,
    )
    assert reply.arguments == [("f", {"a": 1})]


def test_text_of_deltas_wins_over_an_input_given_at_the_start(messages: Callable[..., Any]) -> None:
    opened = block(0, type="tool_use", id="t", name="f", input={"a": 1})
    assert messages(START, opened, finish("tool_use"), STOP).arguments == [("f", {"a": 1})]
    more = delta(0, "input_json_delta", partial_json='{"a": 2}')
    assert messages(START, opened, more, finish("tool_use"), STOP).arguments == [("f", {"a": 2})]


def test_the_same_message_may_start_twice_but_another_may_not(messages: Callable[..., Any]) -> None:
    other = {"type": "message_start", "message": {"id": "m2"}}
    assert messages(START, START, finish("end_turn"), STOP).error is None
    assert messages(START, other, finish("end_turn"), STOP).error.code == "second_message"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", None),
    ],
)
def test_stop_reasons_have_their_canonical_names(raw: str, reason: str | None, messages: Callable[..., Any]) -> None:
    metadata = messages(START, finish(raw), STOP).metadata
    assert (metadata.finish_reason, metadata.finish_reason_raw) == (reason, raw)


def test_a_refusal_is_a_blocked_reply(messages: Callable[..., Any]) -> None:
    reply = messages(START, block(0, type="text", text="No"), finish("refusal"), STOP)
    assert (reply.text, reply.error.type, reply.error.code) == ("No", "content_blocked", "refusal")


def test_a_refusal_keeps_what_the_provider_says_of_it(messages: Callable[..., Any]) -> None:
    last = finish("refusal", output_tokens=5)
    last["delta"]["stop_details"] = {"type": "refusal", "category": "cyber", "explanation": "Because."}
    error = messages(START, last, STOP).error
    assert (error.type, error.message, error.retryable) == ("content_blocked", "Because.", False)


def test_an_input_may_be_json_text(messages: Callable[..., Any]) -> None:
    call = block(0, type="tool_use", id="t", name="f", input='{"x": 1}')
    assert messages(START, call, finish("tool_use"), STOP).arguments == [("f", {"x": 1})]


def test_a_prompt_that_is_all_cached_counts(messages: Callable[..., Any]) -> None:
    start = {"type": "message_start", "message": {"id": "m1", "usage": {"cache_read_input_tokens": 9}}}
    assert messages(start, finish("end_turn", output_tokens=7), STOP).usage.input_tokens == 9


def test_event_names_stand_in_for_a_missing_type(play: Callable[..., Any]) -> None:
    opened = b'event: content_block_start\ndata: {"content_block": {"type": "text", "text": "H"}}\n\n'
    grown = b'event: content_block_delta\ndata: {"index": 0, "delta": {"type": "text_delta", "text": "i"}}\n\n'
    raw = opened + grown + b"event: message_stop\ndata: {}\n\n"
    assert play("anthropic", [raw]).text == "Hi"


def test_an_error_event_keeps_text_and_half_a_call(messages: Callable[..., Any]) -> None:
    reply = messages(
        START,
        block(0, type="text", text="Hi"),
        block(1, type="tool_use", id="t", name="f", input={}),
        delta(1, "input_json_delta", partial_json='{"a'),
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    )
    assert (reply.text, reply.error.type, reply.error.retryable) == ("Hi", "provider_overloaded", True)
    assert [(call.name, call.arguments_truncated) for call in reply.calls] == [("f", True)]
