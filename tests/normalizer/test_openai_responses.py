"""The responses dialect: items by their index, what the deltas left out, tools of the provider, every kind of end."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import asdict

from services.normalizer.endings import ConnectionReset


def added(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text(delta: str, index: int = 0, part: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": index, "content_index": part, "delta": delta}


def ended(status: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"id": "r", "model": "m", "status": status, **response}}


@pytest.fixture
def play_responses(play: Callable[..., Any], sse: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *payloads, **options: play("openai-responses", [sse(*payloads)], **options)


def test_arguments_are_matched_by_output_index_though_item_ids_rotate(play_responses: Callable[..., Any]) -> None:
    reply = play_responses(
        added(0, id="a", type="function_call", call_id="c1", name="f", arguments=""),
        added(1, id="b", type="function_call", call_id="c2", name="g", arguments=""),
        {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "x", "delta": '{"y":'},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "y", "delta": '{"x":1}'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "z", "delta": "2}"},
        ended(),
    )
    assert [(call.id, call.name, call.args) for call in reply.calls] == [("c1", "f", {"x": 1}), ("c2", "g", {"y": 2})]
    assert reply.metadata.finish_reason == "tool_calls"
    assert reply.metadata.finish_reason_raw == "completed"


@pytest.mark.parametrize(
    "told",
    [
        [text("Hel"), {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hello"}],
        [text("Hel"), done(0, type="message", content=[{"type": "output_text", "text": "Hello"}])],
        [text("Hello"), done(0, type="message", content=[{"type": "output_text", "text": "Hello"}])],
        [done(0, type="message", content=[{"type": "refusal", "refusal": "Hello"}])],
        [{"type": "response.content_part.done", "output_index": 0, "part": {"type": "output_text", "text": "Hello"}}],
        [
            text("Hel"),
            {
                "type": "response.content_part.done",
                "output_index": 0,
                "content_index": 0,
                "part": {"type": "output_text", "text": "Hello"},
            },
        ],
        [ended(output=[{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}])],
        [text("Hello", 5), ended(output=[{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}])],
    ],
)
def test_what_the_deltas_left_out_is_taken_from_the_end_of_an_item_once(
    told: list[Any], play_responses: Callable[..., Any]
) -> None:
    assert play_responses(*told, ended()).text == "Hello"


def test_calls_that_only_the_final_response_has_are_taken_from_there(play_responses: Callable[..., Any]) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x": 1}'}
    reply = play_responses(done(0, **call), ended(output=[call, {**call, "call_id": "d"}]))
    assert [(one.id, one.args) for one in reply.calls] == [("c", {"x": 1}), ("d", {"x": 1})]


def test_a_custom_tool_takes_free_text_as_its_input(play_responses: Callable[..., Any]) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "sql"}
    reply = play_responses(added(0, **item, input=""), done(0, **item, input="SELECT 1"), ended())
    assert reply.arguments == [("sql", {"input": "SELECT 1"})]


def test_tools_of_the_provider_are_no_calls_to_run(play_responses: Callable[..., Any]) -> None:
    reply = play_responses(
        added(0, id="ws", type="web_search_call"),
        done(0, id="ws", type="web_search_call", action={"type": "search", "query": "x"}),
        done(1, id="m", type="mcp_call", name="echo", arguments='{"a":1}', output="..."),
        done(2, id="a", type="mcp_approval_request", name="rm", arguments="{}"),
        done(3, id="p", type="apply_patch_call", call_id="c", operation={"type": "delete_file"}),
        ended(),
    )
    assert reply.calls == []
    assert [(call.id, call.type, call.name) for call in reply.metadata.server_tool_calls] == [
        ("ws", "web_search_call", "web_search"),
        ("m", "mcp_call", "echo"),
        ("a", "mcp_approval_request", "rm"),
        ("p", "apply_patch_call", "apply_patch"),
    ]
    assert reply.metadata.server_tool_calls[0].args == {"type": "search", "query": "x"}
    assert reply.metadata.finish_reason == "stop"


def test_reasoning_is_told_once_and_its_item_kept_for_replay(play_responses: Callable[..., Any]) -> None:
    item = {"id": "rs", "type": "reasoning", "encrypted_content": "gAAA", "summary": [{"text": "short"}]}
    reply = play_responses(
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "short"},
        {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "long"},
        done(0, **item),
        ended(output=[item]),
    )
    assert reply.thoughts == [("summary", "short"), ("raw", "long")]
    assert reply.metadata.replay == (item,)


@pytest.mark.parametrize(
    ("payload", "reason", "error"),
    [
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), "length", None),
        (ended("incomplete", incomplete_details={"reason": "new"}), None, None),
        (ended("incomplete", incomplete_details={"reason": "content_filter"}), "content_filter", "content_blocked"),
        (ended("failed", error={"code": "rate_limit_exceeded", "message": "slow"}), "error", "rate_limit"),
        ({"type": "error", "code": "overloaded_error", "message": "oh"}, None, "provider_overloaded"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "oh"}}, None, "provider_overloaded"),
    ],
)
def test_each_end_has_its_reason_and_error(
    payload: Any, reason: str | None, error: str | None, play_responses: Callable[..., Any]
) -> None:
    reply = play_responses(text("So"), payload)
    assert reply.text == "So"
    assert reply.metadata.finish_reason == reason
    assert (reply.error.type if reply.error else None) == error


def test_a_stream_without_a_terminal_event_is_incomplete_and_its_open_call_truncated(
    play_responses: Callable[..., Any],
) -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f"}
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"x": 1, "y'}
    reply = play_responses(added(0, **item), delta, "[DONE]", ending=ConnectionReset())
    assert reply.error.code == "connection_reset"
    assert [call.arguments_truncated for call in reply.calls] == [True]


def test_usage_counts_cached_and_reasoning_tokens_and_keeps_the_report(play_responses: Callable[..., Any]) -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 15,
        "num_search_queries": 2,
    }
    reply = play_responses(ended(usage=usage))
    assert asdict(reply.usage) == {
        "input_tokens": 9,
        "output_tokens": 6,
        "cached_input_tokens": 4,
        "cache_write_tokens": None,
        "reasoning_tokens": 5,
        "total_tokens": 15,
        "raw": usage,
    }


def test_calls_that_share_an_index_are_told_apart_by_their_ids(play_responses: Callable[..., Any]) -> None:
    first = {"id": "a", "type": "function_call", "call_id": "c1", "name": "f"}
    second = {"id": "b", "type": "function_call", "call_id": "c2", "name": "g"}
    reply = play_responses(
        added(0, **first, arguments=""),
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"x":1}'},
        done(0, **first, arguments='{"x":1}'),
        added(0, **second, arguments=""),
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"y":2}'},
        done(0, **second, arguments='{"y":2}'),
        ended(),
    )
    assert [(call.id, call.name, call.args) for call in reply.calls] == [("c1", "f", {"x": 1}), ("c2", "g", {"y": 2})]


def test_a_name_may_come_with_the_end_of_its_call(play_responses: Callable[..., Any]) -> None:
    call = {"id": "a", "type": "function_call", "call_id": "c"}
    reply = play_responses(added(0, **call, name=None), done(0, **call, name="f", arguments="{}"), ended())
    assert reply.arguments == [("f", {})]


def test_the_input_of_a_custom_tool_is_what_was_streamed_of_it(play_responses: Callable[..., Any]) -> None:
    opened = added(0, id="a", type="custom_tool_call", call_id="c", name="f", input="")
    pieces = [
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": delta} for delta in ("ab", "cd")
    ]
    assert play_responses(opened, *pieces, ended()).arguments == [("f", {"input": "abcd"})]
    broken = play_responses(opened, *pieces, ending=ConnectionReset())
    assert [call.arguments_truncated for call in broken.calls] == [True]


def test_the_status_of_a_response_decides_over_the_name_of_its_event(play_responses: Callable[..., Any]) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = play_responses(text("Hi"), {"type": "response.completed", "response": response})
    assert reply.metadata.finish_reason == "length"


def test_a_failed_response_without_a_cause_may_be_tried_again(play_responses: Callable[..., Any]) -> None:
    error = play_responses(ended("failed", error=None)).error
    assert (error.type, error.code, error.retryable) == ("api_error", "response_failed", True)
