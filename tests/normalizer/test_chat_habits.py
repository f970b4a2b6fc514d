"""What chat providers do differently: ends, tools of their own, signatures, reasoning to send back, usage."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import asdict


def tool(**more: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, **more}


@pytest.mark.parametrize(
    "signed",
    [{"extra_content": {"google": {"thought_signature": "S"}}}, {"thought_signature": "S"}],
)
def test_a_signed_call_keeps_its_signature(signed: dict[str, Any], chat: Callable[..., Any]) -> None:
    reply = chat({"tool_calls": [tool(**signed)]}, finish="tool_calls")
    assert (reply.calls[0].thought_signature, reply.metadata.thought_signature) == ("S", "S")


def test_reasoning_content_goes_back_with_tool_results(chat: Callable[..., Any]) -> None:
    reply = chat({"reasoning_content": "a"}, {"reasoning_content": "b"}, {"tool_calls": [tool()]})
    assert reply.metadata.replay == ({"type": "reasoning_content", "reasoning_content": "ab"},)


def test_thinking_parts_of_a_content_list_go_back_as_one(chat: Callable[..., Any]) -> None:
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = chat({"content": [part, part, {"type": "text", "text": "Hi"}]})
    assert (reply.text, reply.thinking) == ("Hi", "hmhm")
    assert reply.metadata.replay == ({"type": "thinking", "thinking": [{"type": "text", "text": "hmhm"}]},)


def test_details_keep_their_order_and_what_is_opaque(chat: Callable[..., Any]) -> None:
    first = {"type": "reasoning.text", "text": "a", "index": 0}
    secret = {"type": "reasoning.encrypted", "data": "gAAA", "index": 1, "id": "rs"}
    reply = chat(
        {"reasoning_details": [first]},
        {"reasoning_details": [{**first, "text": "b", "signature": "S"}]},
        {"reasoning_details": [secret]},
    )
    assert reply.metadata.replay == ({**first, "text": "ab", "signature": "S"}, secret)
    assert (reply.thinking, reply.metadata.thought_signature) == ("ab", "S")


def test_tools_that_the_provider_ran_are_told_apart_and_once(chat: Callable[..., Any]) -> None:
    ran = {"index": 0, "type": "search", "arguments": '{"query": "x"}'}
    reply = chat({"executed_tools": [ran]}, {"executed_tools": [{**ran, "output": "y"}]}, {"content": "Hi"})
    assert reply.calls == []
    assert [(call.type, call.args) for call in reply.metadata.server_tool_calls] == [("search", '{"query": "x"}')]


@pytest.mark.parametrize(
    ("finish", "reason", "error"),
    [
        ("eos", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("brand_new", None, None),
        ("brand_new: STOP", None, None),
        ("PROHIBITED_CONTENT", "content_filter", "content_blocked"),
        ("content_filter: SAFETY", "content_filter", "content_blocked"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "error", "api_error"),
        ("sensitive", "content_filter", "content_blocked"),
        ("insufficient_system_resource", "error", "provider_overloaded"),
        ("network_error", "error", "provider_overloaded"),
    ],
)
def test_a_finish_word_and_what_it_means(
    finish: str, reason: str | None, error: str | None, chat: Callable[..., Any]
) -> None:
    reply = chat({"content": "Hi"}, finish=finish)
    assert (reply.text, reply.metadata.finish_reason, reply.metadata.finish_reason_raw) == ("Hi", reason, finish)
    assert (reply.error.type if reply.error else None) == error


def test_the_word_null_is_no_finish_reason(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    delta = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "null"}]}
    assert play("openai-chat", [sse(delta)]).error.code == "stream_incomplete"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 5, "cached_tokens": 3}, {"cached_input_tokens": 3}),
        ({"prompt_tokens": 5, "prompt_cache_hit_tokens": 3}, {"cached_input_tokens": 3}),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}}, {"cached_input_tokens": 0}),
        ({"completion_tokens": 5, "reasoning_tokens": 4}, {"reasoning_tokens": 4}),
        ({"completion_tokens": "many", "prompt_tokens": 2.0}, {"output_tokens": None, "input_tokens": 2}),
    ],
)
def test_usage_is_read_under_the_names_that_providers_give(
    usage: dict[str, Any], counts: dict[str, Any], play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play("openai-chat", [sse({"choices": [], "usage": usage}, "[DONE]")])
    assert counts.items() <= asdict(reply.usage).items()
    assert reply.usage.raw == usage


def test_reports_are_cumulative_and_null_says_nothing(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    first = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    last = {"choices": [], "usage": {"prompt_tokens": None, "completion_tokens": 9}}
    reply = play("openai-chat", [sse(first, last, "[DONE]")])
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 9)


def test_an_error_under_a_vendor_key_ends_the_stream(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    reply = play("openai-chat", [sse({"choices": [], "x_groq": {"error": "overloaded"}})])
    assert reply.error is not None


def test_an_error_in_a_choice_stands_though_another_choice_follows(
    play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    broken = {"delta": {"content": "a"}, "error": {"message": "oh", "code": 503}}
    reply = play("openai-chat", [sse({"choices": [broken, {"index": 1, "delta": {"content": "Z"}}]})])
    assert (reply.text, reply.error.type) == ("a", "provider_overloaded")


def test_a_call_that_the_provider_could_not_use_is_worth_another_try(chat: Callable[..., Any]) -> None:
    assert chat(finish="MALFORMED_FUNCTION_CALL").error.retryable


def test_a_whole_message_counts_where_no_deltas_came(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "reasoning_content": "hm", "tool_calls": [call]}
    end = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    reply = play("openai-chat", [sse(end, "[DONE]")])
    assert (reply.text, reply.thinking, reply.arguments) == ("Hi", "hm", [("f", {})])
    again = play("openai-chat", [sse({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}, end, "[DONE]")])
    assert (again.text, again.calls) == ("Hi", [])


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"detail": "Not authenticated"}, "Not authenticated"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "insufficient balance"),
        ({"code": "10001", "msg": "no such model"}, "no such model"),
        ({"message": "gone"}, "gone"),
    ],
)
def test_an_event_that_only_tells_an_error_is_one(
    event: dict[str, Any], message: str, play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    assert play("openai-chat", [sse(event, "[DONE]")]).error.message == message
    assert play("openai-chat", [sse(event).removeprefix(b"data: ")]).error.message == message


@pytest.mark.parametrize("event", [{"object": "ping"}, {"base_resp": {"status_code": 0}}, {"code": 200, "msg": "ok"}])
def test_an_event_that_says_nothing_changes_nothing(
    event: dict[str, Any], play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    end = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    reply = play("openai-chat", [sse(event, end, "[DONE]")])
    assert (reply.text, reply.error) == ("Hi", None)


def test_a_count_may_be_written_as_a_string(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    counts = {"choices": [], "usage": {"prompt_tokens": "12", "completion_tokens": "3.5"}}
    usage = play("openai-chat", [sse(counts, "[DONE]")]).usage
    assert (usage.input_tokens, usage.output_tokens) == (12, None)


def test_content_may_be_one_part(chat: Callable[..., Any]) -> None:
    assert chat({"content": {"type": "text", "text": "Hi"}}).text == "Hi"
