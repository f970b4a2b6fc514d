"""The Google dialect: parts and their signatures, arguments by JSON path, ends with and without a reply."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from schemas.chunks import Usage
from services.normalizer.dialects.google_args import PartialArguments
from services.normalizer.endings import ConnectionReset


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "g", "responseId": "r", **more}


@pytest.fixture
def play_google(play: Callable[..., Any], sse: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *payloads, **options: play("google", [sse(*payloads)], **options)


def test_thought_parts_are_thinking_and_text_after_an_early_stop_counts(play_google: Callable[..., Any]) -> None:
    reply = play_google(chunk({"text": "hm", "thought": True}, {"text": "a"}, finish="STOP"), chunk({"text": "b"}))
    assert (reply.thoughts, reply.text) == ([("summary", "hm")], "ab")
    assert reply.metadata.finish_reason == "stop"


def test_parallel_calls_are_kept_in_order_with_ids_of_our_own(play_google: Callable[..., Any]) -> None:
    call = {"functionCall": {"name": "f", "args": {"x": 1}}}
    named = {"functionCall": {"id": "own", "name": "g"}}
    reply = play_google(chunk(call, call), chunk(named, finish="STOP"))
    assert [(one.id, one.name, one.args) for one in reply.calls] == [
        ("call_0", "f", {"x": 1}),
        ("call_1", "f", {"x": 1}),
        ("own", "g", {}),
    ]
    assert reply.metadata.finish_reason == "tool_calls"


def test_a_signature_stays_with_its_part(play_google: Callable[..., Any]) -> None:
    reply = play_google(
        chunk({"text": "a"}, {"text": "b"}),
        chunk({"text": "", "thoughtSignature": "S1"}),
        chunk({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S2"}, finish="STOP"),
    )
    assert reply.calls[0].thought_signature == "S2"
    assert reply.metadata.thought_signature == "S1S2"
    assert reply.metadata.replay == (
        {"text": "ab"},
        {"text": "", "thoughtSignature": "S1"},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S2"},
    )


def test_unsigned_replies_need_no_replay(play_google: Callable[..., Any]) -> None:
    assert play_google(chunk({"text": "a"}, finish="STOP")).metadata.replay == ()


@pytest.mark.parametrize("name", ["functionCall", "function_call"])
def test_text_beside_a_call_in_one_part_is_not_lost(play_google: Callable[..., Any], name: str) -> None:
    both = {"text": "one ", name: {"name": "f", "args": {}}, "thoughtSignature": "S"}
    thought = {"text": "so", "thought": True, name: {"name": "g", "args": {}}}
    reply = play_google(chunk(both), chunk(thought, {"text": "two"}, finish="STOP"))
    assert (reply.text, reply.thinking) == ("one two", "so")
    assert [(call.name, call.thought_signature) for call in reply.calls] == [("f", "S"), ("g", None)]
    assert reply.metadata.replay == (
        {"text": "one "},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S"},
        {"text": "so", "thought": True},
        {"functionCall": {"name": "g", "args": {}}},
        {"text": "two"},
    )


def test_code_that_the_provider_runs_is_no_call_of_ours(play_google: Callable[..., Any]) -> None:
    ran = {"executableCode": {"language": "PYTHON", "code": "1"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    reply = play_google(chunk(ran), chunk(result, {"text": "one"}, finish="STOP"))
    assert (reply.text, reply.calls) == ("one", [])
    (call,) = reply.metadata.server_tool_calls
    assert (call.type, call.name, call.args) == ("executableCode", "code_execution", ran["executableCode"])
    assert reply.metadata.replay == (ran, result, {"text": "one"})


def piece(path: str, goes_on: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if goes_on else {})}


def part_of_call(*pieces: Any, goes_on: bool = True, **call: Any) -> dict[str, Any]:
    return chunk({"functionCall": {**call, "partialArgs": list(pieces), **({"willContinue": True} if goes_on else {})}})


def test_arguments_streamed_by_path_are_merged(play_google: Callable[..., Any]) -> None:
    reply = play_google(
        part_of_call(name="f"),
        part_of_call(piece("$.a.b[0].c", True, stringValue="x")),
        part_of_call(piece("$.a.b[0].c", stringValue="y"), piece("$.a.b[1]", numberValue=2)),
        part_of_call(piece("$['k.e[y]']", boolValue=True), piece("$.n", nullValue="NULL_VALUE")),
        part_of_call(piece("$['it\\'s']", numberValue=1), piece('$["a\\\\b"]', numberValue=2)),
        chunk({"functionCall": {}}),
        chunk(finish="STOP"),
    )
    quoted = {"it's": 1, "a\\b": 2}
    assert reply.arguments == [("f", {"a": {"b": [{"c": "xy"}, 2]}, "k.e[y]": True, "n": None, **quoted})]


@pytest.mark.parametrize("path", ["$.empty", "$.list[0]"])
def test_a_call_that_is_cut_at_a_place_without_a_value_keeps_the_rest(path: str) -> None:
    arguments = PartialArguments({"whole": 1})
    arguments.add({"jsonPath": path, "willContinue": True})
    assert arguments.cut().startswith('{"whole": 1,')


@pytest.mark.parametrize("finish", [None, "STOP"])
def test_a_call_that_never_closed_is_truncated_and_loses_the_value_that_was_growing(
    finish: str | None, play_google: Callable[..., Any]
) -> None:
    reply = play_google(
        part_of_call(piece("$.whole", numberValue=1), piece("$.cut", True, stringValue="hal"), name="f"),
        *([chunk(finish=finish)] if finish else []),
        ending=ConnectionReset(),
    )
    (call,) = reply.calls
    assert (call.arguments_truncated, call.args) == (True, {"whole": 1})


@pytest.mark.parametrize("path", ["", "$", "$[0]", "$.a[99999999999]", "$.s.x", "$.a..b", "$.a[", "$" + ".a" * 200])
def test_a_path_that_leads_nowhere_changes_nothing(path: str) -> None:
    arguments = PartialArguments({"s": "text"})
    arguments.add(piece(path, stringValue="x"))
    arguments.add("no piece")
    whole = arguments.whole()
    assert whole.pop("s") == "text"
    assert all(value in ({}, []) for value in whole.values())
    json.dumps(whole)


def test_indexes_pass_over_a_hundred_items_of_a_call_and_no_more() -> None:
    arguments = PartialArguments(None)
    for index in (60, 120, 0, 61):
        arguments.add(piece(f"$.a[{index}]", numberValue=index))
    assert arguments.whole()["a"] == [0, *[None] * 59, 60, 61]


@pytest.mark.parametrize(
    ("finish", "reason", "error", "retryable"),
    [
        ("STOP", "stop", None, None),
        ("MAX_TOKENS", "length", None, None),
        ("SOMETHING_NEW", None, None, None),
        ("SAFETY", "content_filter", "content_blocked", False),
        ("IMAGE_SAFETY", "content_filter", "content_blocked", False),
        ("OTHER", "content_filter", "content_blocked", False),
        ("MALFORMED_FUNCTION_CALL", "error", "api_error", True),
        ("TOO_MANY_TOOL_CALLS", "error", "api_error", False),
    ],
)
def test_a_finish_reason_and_what_it_means(
    finish: str, reason: str | None, error: str | None, retryable: bool | None, play_google: Callable[..., Any]
) -> None:
    reply = play_google(chunk({"text": "kept"}, finish=finish))
    assert reply.text == "kept"
    assert (reply.metadata.finish_reason, reply.metadata.finish_reason_raw) == (reason, finish)
    found = (reply.error.type, reply.error.code, reply.error.retryable) if reply.error else None
    assert found == ((error, finish, retryable) if error else None)


def test_a_blocked_prompt_is_an_error_without_a_finish_reason(play_google: Callable[..., Any]) -> None:
    reply = play_google({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "g"})
    assert (reply.error.type, reply.error.code, reply.error.retryable) == (
        "content_blocked",
        "PROHIBITED_CONTENT",
        False,
    )
    assert reply.metadata.finish_reason_raw is None


def test_no_finish_reason_is_an_incomplete_reply(play_google: Callable[..., Any]) -> None:
    assert play_google(chunk({"text": "a"})).error.code == "stream_incomplete"


@pytest.mark.parametrize("array", [False, True])
def test_an_error_object_is_classified_wherever_it_comes(array: bool, play_google: Callable[..., Any]) -> None:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    assert play_google(chunk({"text": "a"}), [error] if array else error).error.type == "provider_overloaded"


def test_usage_counts_tool_prompts_and_thoughts_and_the_last_full_report_stands(
    play_google: Callable[..., Any],
) -> None:
    usage = {
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
        "cachedContentTokenCount": 2,
        "totalTokenCount": 22,
    }
    reply = play_google(
        chunk({"text": "a"}, usageMetadata={"promptTokenCount": 10}),
        chunk({"text": "b"}, usageMetadata=usage),
        chunk(finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"}),
    )
    assert reply.usage == Usage(
        input_tokens=15,
        output_tokens=7,
        cached_input_tokens=2,
        reasoning_tokens=4,
        total_tokens=22,
        raw=usage,
    )


def test_only_candidate_0_counts(play_google: Callable[..., Any]) -> None:
    other = {"candidates": [{"index": 1, "content": {"parts": [{"text": "Z"}]}, "finishReason": "STOP"}]}
    assert play_google(other, chunk({"text": "A"}, finish="STOP")).text == "A"


def test_a_count_that_is_left_out_beside_others_is_zero(play_google: Callable[..., Any]) -> None:
    blocked = {"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 9}}
    usage = play_google(blocked).usage
    assert (usage.input_tokens, usage.output_tokens) == (9, 0)
    nothing = play_google(chunk({"text": "Hi"}, finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"})).usage
    assert (nothing.input_tokens, nothing.output_tokens) == (None, None)


def test_arguments_may_be_json_text(play_google: Callable[..., Any]) -> None:
    reply = play_google(chunk({"functionCall": {"name": "f", "args": '{"x": 1}'}}, finish="STOP"))
    assert reply.arguments == [("f", {"x": 1})]
