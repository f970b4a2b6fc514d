"""What chat chunks mean, beyond what the recorded and the awkward streams show."""

from collections.abc import Callable
from typing import Any

import pytest


def tool(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    part: dict[str, Any] = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [part if index is None else {"index": index, **part}]}


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([tool(0, "a", "f", '{"x"'), tool(0, "", "", ":1}")], [("a", "f", {"x": 1})]),
        ([tool(0, "a", "f", "{}"), tool(0, "b", "g", "{}")], [("a", "f", {}), ("b", "g", {})]),
        ([tool(0, "a", "f", '{"x"'), tool(0, "b", None, ":1}")], [("a", "f", {"x": 1})]),
        ([tool(0, "a", "f", '{"x"'), tool(0, "a", "f", ":1}")], [("a", "f", {"x": 1})]),
        ([tool(1, "a", "f", ""), tool(0, "b", "g", None)], [("a", "f", {}), ("b", "g", {})]),
        ([tool(None, "a", "f", '{"x"'), tool(None, None, None, ":1}")], [("a", "f", {"x": 1})]),
        ([tool(None, "a", "f", "{}"), tool(None, "b", "f", "{}")], [("a", "f", {}), ("b", "f", {})]),
        ([tool(None, None, "f", "{}"), tool(None, None, "g", "{}")], [("call_0", "f", {}), ("call_1", "g", {})]),
        ([tool(None, "a", "f", '{"x"'), tool(None, "b", "g", "{}"), tool(None, "a", None, ":1}")],
         [("a", "f", {"x": 1}), ("b", "g", {})]),
        ([tool(0, "a", "f", {"x": 1})], [("a", "f", {"x": 1})]),
        ([tool(0, "a", "f", "null")], [("a", "f", {})]),
        ([tool(0, "a", "f", '"\\ud83c'), tool(0, None, None, '\\udf0d"')], None),
        ([tool(0, "a", "f", '{"x": "\ud83c'), tool(0, None, None, '\udf0d\\ud83c"}')], [("a", "f", {"x": "🌍\ufffd"})]),
        ([{"function_call": {"name": "f", "arguments": '{"x"'}}, {"function_call": {"arguments": ":1}"}}],
         [("call_0", "f", {"x": 1})]),
        ([{"tool_calls": None}, {"tool_calls": []}], []),
        ([tool(0, "a", "f", "{}"), tool(0, "b", "g", ""), tool(1, None, None, '{"y":2}')],
         [("a", "f", {}), ("b", "g", {"y": 2})]),
        ([tool(0, "a", "f", '{"x"'), tool(0, "b", "g", '{"y"'), tool(1, "b", None, ":2}"), tool(0, "a", None, ":1}")],
         [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]),
        ([tool(0, "a", "f", "{}"), tool(1, "a", "g", "{}")], [("a", "f", {}), ("a", "g", {})]),
        ([tool(0, "a", None, '{"x"'), tool(0, None, "f", ":1}")], [("a", "f", {"x": 1})]),
        ([{"tool_calls": tool(0, "a", "f", "{}")["tool_calls"][0]}], [("a", "f", {})]),
        ([tool(0, "a", "f", ["x"])], None),
        ([tool(0, "", "f", '{"x":1}'), tool(0, "", "g", '{"y":2}')],
         [("call_0", "f", {"x": 1}), ("call_1", "g", {"y": 2})]),
        ([tool(0, "", "f", ""), tool(0, "", None, '{"x":'), tool(0, "", None, "1} "), tool(0, "", None, ""),
          tool(0, "", "g", ""), tool(0, "", None, '{"y":2}')],
         [("call_0", "f", {"x": 1}), ("call_1", "g", {"y": 2})]),
        ([tool(0, "a", "f", '{"x":1}'), tool(0, "b", None, ""), tool(0, None, "g", '{"y":2}')],
         [("a", "f", {"x": 1}), ("call_1", "g", {"y": 2})]),
        ([tool(None, "a", "f", '{"x":1}'), tool(None, "a", "g", '{"y"'), tool(None, "a", None, ":2}")],
         [("a", "f", {"x": 1}), ("a", "g", {"y": 2})]),
        ([tool(0, "", "f", '{"x":1}'), tool(0, "", "f", '{"x":2}'), tool(0, "", "f", '{"x":3}')],
         [("call_0", "f", {"x": 1}), ("call_1", "f", {"x": 2}), ("call_2", "f", {"x": 3})]),
        ([tool(None, None, "f", '{"x":1}'), tool(None, None, "f", '{"x":2}')],
         [("call_0", "f", {"x": 1}), ("call_1", "f", {"x": 2})]),
        ([tool(0, "", "f", {"x": 1}), tool(0, "", "f", {"x": 2})],
         [("call_0", "f", {"x": 1}), ("call_1", "f", {"x": 2})]),
        ([tool(0, "", "f", {"x": 1}), tool(0, "", "g", "{}")], [("call_0", "f", {"x": 1}), ("call_1", "g", {})]),
    ],
)  # fmt: skip
def test_pieces_find_their_call(deltas: list[Any], calls: list[Any] | None, chat: Callable[..., Any]) -> None:
    reply = chat(*deltas)
    if calls is None:
        assert reply.error.code == "tool_arguments_invalid"
    else:
        assert [(call.id, call.name, call.args) for call in reply.calls] == calls
        assert reply.error is None


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([tool(0, "", "f", '{"x"'), tool(0, "", "f", ":1"), tool(0, "", "f", "}")], [("f", {"x": 1})]),
        ([tool(0, "", "f", '{"x":'), tool(0, "", "f", '{"y":1}'), tool(0, "", "f", "}")], [("f", {"x": {"y": 1}})]),
        ([tool(0, "", "f", '{"x":{}'), tool(0, "", "g", "}")], [("f", {"x": {}})]),
        ([tool(0, "", "f", {"x": 1}), tool(0, "", "f", {"x": 1})], [("f", {"x": 1})]),
        ([tool(0, "", "f", {}), tool(0, "", "f", {"x": 1})], [("f", {"x": 1})]),
        ([tool(0, "a", "f", {"x": 1}), tool(0, "a", "f", {"x": 2})], [("f", {"x": 2})]),
        ([tool(0, "a", "f", '{"x":1}'), tool(0, "a", "f", "")], [("f", {"x": 1})]),
        ([tool(0, None, None, '{"x":1}'), tool(0, "a", "f", "")], [("f", {"x": 1})]),
        ([tool(0, "", "f", '{"x":1}'), tool(0, "", "f", '{"x": 1}')], []),
        ([tool(0, "", "f", '{"x":1}}'), tool(0, "", "g", '{"y":2}')], []),
    ],
)
def test_a_name_that_is_told_again_begins_no_call_in_a_call_that_may_go_on(
    deltas: list[Any], calls: list[Any], chat: Callable[..., Any]
) -> None:
    reply = chat(*deltas)
    assert (reply.arguments, len(reply.calls)) == (calls, 1)


@pytest.mark.parametrize("raw", ['{"x": 1,}', '{"x": 1}}', "[1]", '"x"', "{'x': 1}", '{"x": NaN}', '{"x": 1e999}', "x"])
def test_arguments_that_are_no_object_are_kept_as_text_and_end_in_an_error(raw: str, chat: Callable[..., Any]) -> None:
    reply = chat({"content": "Hi"}, tool(0, "a", "f", raw), tool(1, "b", "g", "{}"), finish="tool_calls")
    bad, good = reply.calls
    assert (bad.args, bad.arguments_truncated, bad.raw_arguments) == ({}, True, raw)
    assert (good.args, good.arguments_truncated, good.raw_arguments) == ({}, False, None)
    assert (reply.error.type, reply.error.code) == ("api_error", "tool_arguments_invalid")
    assert reply.text == "Hi"


def test_a_call_that_never_gets_a_name_ends_in_an_error(chat: Callable[..., Any]) -> None:
    reply = chat(tool(0, "a", None, "{}"))
    assert (reply.calls, reply.error.code) == ([], "tool_arguments_invalid")


@pytest.mark.parametrize(
    ("raw", "with_call", "reason"),
    [
        ("stop", False, "stop"),
        ("length", False, "length"),
        ("tool_calls", True, "tool_calls"),
        ("stop", True, "tool_calls"),
        ("tool_calls", False, "stop"),
        ("length", True, "length"),
        ("brand_new", False, None),
    ],
)
def test_calls_decide_the_finish_reason(
    raw: str, with_call: bool, reason: str | None, chat: Callable[..., Any]
) -> None:
    reply = chat(tool(0, "a", "f", "{}") if with_call else {"content": "Hi"}, finish=raw)
    assert (reply.metadata.finish_reason, reply.metadata.finish_reason_raw) == (reason, raw)


def test_a_blocked_reply_is_an_error_that_no_retry_helps(chat: Callable[..., Any]) -> None:
    reply = chat({"content": "Hi"}, finish="content_filter")
    assert (reply.error.type, reply.error.code, reply.error.retryable) == ("content_blocked", "content_filter", False)
    assert (reply.text, reply.metadata.finish_reason) == ("Hi", "content_filter")


def test_a_finish_of_error_is_an_error(chat: Callable[..., Any]) -> None:
    assert chat({"content": "Hi"}, finish="error").error.type == "api_error"


def test_an_error_inside_a_choice_is_found(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    choice = {"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "upstream"}}
    reply = play("openai-chat", [sse({"choices": [choice]})])
    assert (reply.error.type, reply.error.message) == ("provider_overloaded", "upstream")


@pytest.mark.parametrize(
    "payload",
    [
        {"object": "error", "message": "boom", "code": 400},
        {"message": "boom"},
        {"error": "boom", "choices": [{"delta": {"content": "no"}}]},
    ],
)
def test_error_objects_of_any_shape_are_errors(
    payload: Any, play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play("openai-chat", [sse(payload)])
    assert (reply.error.message, reply.text) == ("boom", "")


def test_a_payload_that_is_not_json_is_an_error(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    assert play("openai-chat", [sse("garbage")]).error.code == "malformed_event"


def test_reasoning_that_comes_twice_counts_once(chat: Callable[..., Any]) -> None:
    detail = {"type": "reasoning.text", "text": "think", "index": 0}
    reply = chat({"reasoning": "think", "reasoning_content": "think", "reasoning_details": [detail]})
    assert reply.thoughts == [("raw", "think")]
    assert reply.metadata.replay == (detail,)


def details(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "reasoning.text", "text": text, "index": 0} for text in texts]


def blocks(text: str, signature: str = "") -> list[dict[str, Any]]:
    return [{"type": "thinking", "thinking": text, "signature": signature}]


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning": "a", "reasoning_details": details("a")}, {"reasoning": None, "reasoning_details": details("b")}],
        [{"reasoning_details": details("a")}, {"reasoning": "b", "reasoning_details": details("b")}],
        [{"reasoning": "a"}, {"reasoning": "b"}, {"reasoning_details": details("ab")}],
        [
            {"reasoning": "a"},
            {"reasoning": "b"},
            {"reasoning_details": details("a")},
            {"reasoning_details": details("b")},
        ],
        [{"reasoning_content": {"text": "a"}}, {"reasoning": {"text": "b"}}],
        [{"reasoning_content": {"x": "?"}, "reasoning": "a"}, {"reasoning_text": "b", "thinking": "b"}],
        [{"thinking": "a"}, {"thinking": "b"}, {"thinking": {"x": "?"}}],
        [{"reasoning_content": "a", "thinking_blocks": blocks("a")}, {"reasoning_content": "b"}],
        [{"reasoning_content": "a"}, {"reasoning_content": "b"}, {"thinking_blocks": blocks("ab", "S")}],
        [{"thinking_blocks": blocks("a")}, {"thinking_blocks": [*blocks("b"), 7, {"type": "redacted_thinking"}]}],
        [{"content": [{"type": "reasoning", "text": "a"}]}, {"content": {"type": "reasoning", "text": "b"}}],
    ],
)
def test_reasoning_has_many_names_and_is_told_once(deltas: list[Any], chat: Callable[..., Any]) -> None:
    reply = chat(*deltas, {"content": "Hi"})
    assert (reply.thoughts, reply.text) == ([("raw", "ab")], "Hi")


def test_reasoning_and_text_may_come_in_one_delta(chat: Callable[..., Any]) -> None:
    reply = chat({"reasoning_text": "a", "content": "Hi"})
    assert (reply.thinking, reply.text) == ("a", "Hi")


def test_a_reasoning_part_may_be_a_signed_summary(chat: Callable[..., Any]) -> None:
    summary = [{"type": "summary_text", "text": "hm", "signature": ""}, {"type": "summary_text", "signature": "S"}]
    reply = chat(
        {"content": [{"type": "reasoning", "summary": summary}]}, {"content": [{"type": "text", "text": "Hi"}]}
    )
    assert (reply.thoughts, reply.text) == ([("summary", "hm")], "Hi")
    assert (reply.metadata.thought_signature, reply.metadata.replay) == ("S", ())


def test_a_thinking_block_signs_reasoning_that_came_in_another_field(chat: Callable[..., Any]) -> None:
    reply = chat({"reasoning_content": "hm"}, {"reasoning_content": "", "thinking_blocks": blocks("hm", "S")})
    assert (reply.thinking, reply.metadata.thought_signature) == ("hm", "S")
    assert reply.metadata.replay == ({"type": "reasoning_content", "reasoning_content": "hm"},)


def test_reasoning_details_that_repeat_what_came_in_pairs_are_told_once(chat: Callable[..., Any]) -> None:
    def pair(text: str) -> dict[str, Any]:
        return {"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0}]}

    whole = {"reasoning_details": [{"type": "reasoning.text", "text": "Hello", "signature": "S", "index": 1}]}
    reply = chat(pair("Hel"), pair("lo"), whole)
    assert (reply.thinking, reply.metadata.thought_signature) == ("Hello", "S")


@pytest.mark.parametrize(
    ("first", "second", "arguments"),
    [
        (
            {"id": "x", "name": "f", "arguments": {"a": 1}},
            {"name": "f", "arguments": {"a": 1, "b": 2}},
            {"a": 1, "b": 2},
        ),
        ({"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 1, "b": 2}}, {"a": 1, "b": 2}),
        ({"id": "x", "name": "f", "arguments": '{"a":1}'}, {"id": "x", "name": "g", "arguments": None}, {"a": 1}),
        (
            {"id": "x", "name": "f", "arguments": '{"a":1}'},
            {"id": "x", "name": "functions.f", "arguments": ""},
            {"a": 1},
        ),
    ],
)
def test_a_call_that_is_told_again_as_it_grows_or_by_another_name_is_one(
    first: dict[str, Any], second: dict[str, Any], arguments: dict[str, Any], chat: Callable[..., Any]
) -> None:
    def piece(told: dict[str, Any]) -> dict[str, Any]:
        function = {"name": told["name"], "arguments": told["arguments"]}
        return {"tool_calls": [{"index": 0, "id": told.get("id", ""), "function": function}]}

    assert chat(piece(first), piece(second)).arguments == [("f", arguments)]


def test_reasoning_details_alone_count_and_are_kept_in_order(chat: Callable[..., Any]) -> None:
    def detail(kind: str, **more: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": f"reasoning.{kind}", **more}]}

    reply = chat(
        detail("summary", summary="a ", index=0),
        detail("summary", summary="b", index=0),
        detail("text", text="c", index=1),
        detail("text", text="d", index=1, signature="S"),
        detail("encrypted", data="E", id="1", index=2),
        detail("future", x=1),
    )
    assert reply.thoughts == [("summary", "a b"), ("raw", "cd")]
    assert reply.metadata.replay == (
        {"type": "reasoning.summary", "summary": "a b", "index": 0},
        {"type": "reasoning.text", "text": "cd", "index": 1, "signature": "S"},
        {"type": "reasoning.encrypted", "data": "E", "id": "1", "index": 2},
        {"type": "reasoning.future", "x": 1},
    )


def test_content_may_be_a_list_of_parts(chat: Callable[..., Any]) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = chat({"content": [thinking, {"type": "text", "text": "a"}, {"type": "reference"}, "b", None]})
    assert (reply.text, reply.thinking) == ("ab", "hm")


def test_usage_is_set_by_each_report_and_never_added(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    first = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    last = {
        "choices": [{"delta": {}, "finish_reason": "stop"}],
        "usage": {
            **{"prompt_tokens": 3.0, "completion_tokens": 5, "total_tokens": None},
            "prompt_tokens_details": {"cached_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    }
    usage = play("openai-chat", [sse(first, last, {"choices": [], "usage": None})]).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 5, None)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (2, 4)


def test_the_first_serving_provider_and_the_last_model_are_kept(
    play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    chunks = [{"provider": p, "model": m, "choices": []} for p, m in (("", ""), ("minimax-cn", "a"), ("x", "b"))]
    reply = play("openai-chat", [sse(*chunks, "[DONE]")])
    assert (reply.serving_provider, reply.metadata.model) == ("minimax-cn", "b")


def test_one_odd_field_costs_only_itself(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    chunk = {"id": 7, "model": ["x"], "choices": [{"index": "0", "delta": {"content": "Hi", "tool_calls": "no"}}]}
    reply = play("openai-chat", [sse(chunk, "[DONE]")])
    assert (reply.text, reply.metadata.response_id, reply.metadata.model) == ("Hi", "7", "asked-for")
