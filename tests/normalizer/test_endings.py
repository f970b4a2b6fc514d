"""How the end of a stream shows: what was finished stays finished, and what was not is a named error."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from schemas.chunks import Dialect
from schemas.raw import ENDINGS, RawEnd, RawOrigin
from services.normalizer import endings
from services.normalizer.endings import (
    ConnectFailed,
    ConnectionReset,
    Deadline,
    Ending,
    EndOfFile,
    Expired,
    HttpError,
    Lost,
    Stopped,
    TooLarge,
    ending_of,
)

ALL = [
    *(EndOfFile(), ConnectionReset(), ConnectFailed(), HttpError(500), Deadline("idle"), Deadline("first_byte")),
    *(Deadline("total"), TooLarge(), Stopped(), Lost(), Expired()),
]
CALL = {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}]}
HALF_A_CALL = {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": '{"a": 1'}}]}


@pytest.mark.parametrize("ending", ALL, ids=str)
def test_a_finish_in_the_bytes_beats_any_ending(ending: Ending, chat: Callable[..., Any]) -> None:
    reply = chat({"content": "Hi"}, CALL, ending=ending)
    assert reply.error is None
    assert (reply.text, reply.arguments) == ("Hi", [("f", {"a": 1})])
    assert reply.metadata.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("ending", "kind", "code", "retryable"),
    [
        (EndOfFile(), "api_error", "stream_incomplete", True),
        (ConnectionReset("reset by peer"), "api_error", "connection_reset", True),
        (Lost(), "api_error", "lost", True),
        (Deadline("idle"), "timeout", "idle_timeout", True),
        (Deadline("total"), "timeout", "total_timeout", True),
        (TooLarge(), "api_error", "stream_too_large", False),
    ],
    ids=str,
)
def test_a_stream_that_breaks_keeps_its_text_and_names_its_error(
    ending: Ending, kind: str, code: str, retryable: bool, chat: Callable[..., Any]
) -> None:
    reply = chat({"content": "Hi"}, finish=None, ending=ending)
    assert reply.text == "Hi"
    assert (reply.error.type, reply.error.code, reply.error.retryable) == (kind, code, retryable)
    assert reply.metadata.model == "m"


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (ConnectFailed("refused"), "connect_failed"),
        (Expired(), "expired"),
        (Deadline("first_byte"), "first_byte_timeout"),
        (EndOfFile(), "not_a_stream"),
    ],
    ids=str,
)
def test_a_stream_without_a_byte_names_its_error(ending: Ending, code: str, play: Callable[..., Any]) -> None:
    assert play("anthropic", [], ending).error.code == code


def test_a_stop_ends_quietly_and_without_half_a_call(chat: Callable[..., Any]) -> None:
    reply = chat({"content": "Hi\ud83c"}, HALF_A_CALL, finish=None, ending=Stopped())
    assert (reply.text, reply.calls, reply.error) == ("Hi\ufffd", [], None)
    assert reply.metadata.stopped
    assert reply.metadata.finish_reason is None


@pytest.mark.parametrize("ending", [EndOfFile(), Lost()], ids=str)
def test_half_a_call_of_a_broken_stream_is_never_whole(ending: Ending, chat: Callable[..., Any]) -> None:
    (call,) = chat(HALF_A_CALL, finish=None, ending=ending).calls
    assert (call.args, call.arguments_truncated, call.raw_arguments) == ({}, True, '{"a": 1')


def test_a_call_without_arguments_is_whole_only_in_a_finished_stream(chat: Callable[..., Any]) -> None:
    bare = {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": ""}}]}
    assert chat(bare).arguments == [("f", {})]
    assert chat(bare, finish=None).calls[0].arguments_truncated


def test_an_event_cut_by_the_end_is_no_error_of_its_own(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    whole = sse({"choices": [{"delta": {"content": "Hi"}}]})
    cut = whole + sse({"choices": [{"delta": {"content": "there"}}]})[:30]
    assert play("openai-chat", [cut]).error.code == "stream_incomplete"
    finished = sse({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    assert play("openai-chat", [whole + finished + b'data: {"usage'], ConnectionReset()).error is None


def test_what_follows_the_end_mark_is_ignored(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    chunk = {"choices": [{"delta": {"content": "Hi"}}]}
    reply = play("openai-chat", [sse(chunk, "[DONE]", chunk, "garbage")], ConnectionReset())
    assert (reply.text, reply.error) == ("Hi", None)


def test_an_error_after_the_finish_reason_counts(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    finish = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    reply = play("openai-chat", [sse(finish, {"error": {"code": 400, "message": "Token limit"}}, "[DONE]")])
    assert (reply.error.code, reply.metadata.finish_reason) == ("400", "length")


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        (b"<html>gateway</html>", "text/html", "not_a_stream"),
        (b'{"choices": [{"message": {"content": "Hi"}}]}', "application/json", "not_a_stream"),
        (
            b'{\n "error": {"code": "insufficient_quota",\n\n "message": "x"}\n}',
            "application/json",
            "insufficient_quota",
        ),
        (b"gateway timeout", "text/plain", "not_a_stream"),
        (b"", "text/event-stream", "not_a_stream"),
        (b": ping\n\n: ping\n\n", "text/event-stream", "stream_incomplete"),
    ],
)
def test_an_answer_that_is_no_stream_is_an_error(
    body: bytes, content_type: str, code: str, play: Callable[..., Any]
) -> None:
    for pieces in ([body], [body[at : at + 1] for at in range(len(body))]):
        assert play("openai-chat", pieces, content_type=content_type).error.code == code


@pytest.mark.parametrize("ending", [HttpError(429, {"retry-after": "3"}), EndOfFile(), ConnectionReset()], ids=str)
def test_a_refusal_is_classified_by_its_body_however_it_ends(ending: Ending, play: Callable[..., Any]) -> None:
    body = b'data: {"error": {"message": "slow down"}}\n\n'
    reply = play("openai-chat", [body[:10], body[10:]], ending, http_status=429)
    assert reply.error.type == "rate_limit"
    assert "slow down" in reply.error.message
    assert reply.error.retry_after_s == (3.0 if isinstance(ending, HttpError) else None)


BARE = b'{\n  "error": {\n    "code": 429,\n    "message": "slow down",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\n'
BEGUN: dict[Dialect, bytes] = {
    "openai-chat": b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
    "openai-responses": b'data: {"type":"response.output_text.delta","delta":"a"}\n\n',
    "anthropic": b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n',
    "google": b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n',
}


@pytest.mark.parametrize("behind", [b"", b"\n", b"\ndata: [DONE]\n\n", b"data: [DONE]\n\n"])
@pytest.mark.parametrize("dialect", BEGUN)
def test_an_error_that_a_proxy_wrote_between_the_events_ends_the_stream(
    dialect: Dialect, behind: bytes, play: Callable[..., Any]
) -> None:
    reply = play(dialect, [BEGUN[dialect] + BARE + behind])
    assert (reply.text, reply.error.type, reply.error.retryable) == ("a", "rate_limit", True)


def test_other_json_between_the_events_is_ignored(play: Callable[..., Any]) -> None:
    done = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    reply = play("openai-chat", [BEGUN["openai-chat"] + b'{"status":"ok"}\n\n[1]\n\n{"cut\n\n' + done])
    assert (reply.text, reply.error) == ("a", None)


def test_an_error_in_a_field_of_that_name_is_one(play: Callable[..., Any]) -> None:
    raw = b'error: {"code":400,"message":"the request exceeds the available context size"}\n\ndata: [DONE]\n\n'
    reply = play("openai-chat", [raw])
    assert reply.error.classifiers == ("context_length",)


def test_events_without_a_blank_line_between_them_are_all_read(play: Callable[..., Any]) -> None:
    lines = BEGUN["openai-chat"].rstrip() + b'\ndata: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}\n'
    assert play("openai-chat", [lines + b"data: [DONE]\n\n"]).text == "ab"
    assert play("openai-chat", [lines + b"data: {\n\n"]).error.code == "malformed_event"


@pytest.mark.parametrize("dialect", BEGUN)
def test_the_text_of_an_event_that_keeps_the_connection_open_is_no_error(
    dialect: Dialect, play: Callable[..., Any]
) -> None:
    reply = play(dialect, [b'event: ping\ndata: ping\n\ndata: ""\n\n' + BEGUN[dialect]])
    assert (reply.text, reply.error.code) == ("a", "stream_incomplete")


@pytest.mark.parametrize("dialect", BEGUN)
@pytest.mark.parametrize(
    "notice",
    [
        b'event: ping\ndata: {"message":"pong"}\n\n',
        b'event: status\ndata: {"message":"loading model"}\n\n',
        b'data: {"status":"processing","message":"queued"}\n\n',
        b'{"status":"processing","message":"queued"}\n\n',
        b"error: {}\n\n",
    ],
)
def test_a_word_about_what_goes_on_is_no_error(dialect: Dialect, notice: bytes, play: Callable[..., Any]) -> None:
    reply = play(dialect, [BEGUN[dialect] + notice + BEGUN[dialect]])
    assert (reply.text, reply.error.code) == ("aa", "stream_incomplete")


def test_every_ending_of_the_raw_topic_has_its_meaning() -> None:
    origin = RawOrigin(turn="m1", generation=1, instance="p", dialect="anthropic", model="m")
    now = datetime(2026, 11, 30, tzinfo=UTC)
    facts = {"http_status": 429, "retry_after": "5", "detail": "why", "retry_hints": (("x-should-retry", "false"),)}
    found = [ending_of(RawEnd(origin, 0, name, **facts), now) for name in ENDINGS]
    assert {type(ending) for ending in found} == set(get_args(endings.Ending))
    assert HttpError(429, {"retry-after": "5", "x-should-retry": "false"}, now) in found
    assert ConnectionReset("why") in found
