"""A stream ends the way the script says, and the book tells how and when."""

import httpx
import pytest

from services.sandbox.provider.script import (
    Answer,
    Eof,
    Hang,
    KeepAlive,
    Recording,
    Reply,
    Reset,
    Script,
    Stream,
    StreamError,
    Text,
)


async def until_reset(answer: httpx.Response) -> bytes:
    got = b""
    try:
        async for piece in answer.aiter_raw():
            got += piece
    except httpx.ReadError:
        return got
    raise AssertionError("the connection was not reset")


async def test_a_clean_end_of_file_has_no_end_mark(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Reply(deltas=3),), Eof())))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    said = sandbox.heard(dialect, answer.text)
    assert said.text == "Hello! I am"
    assert said.finish_reason is None
    assert "[DONE]" not in answer.text
    assert sandbox.provider.calls[0].ended.how == "completed"


async def test_a_reset_comes_after_all_bytes_before_it(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text(("one", "two")),), Reset())))
    async with sandbox.stream(sandbox.native(dialect, "hi")) as answer:
        got = await until_reset(answer)
    assert sandbox.heard(dialect, got.decode()).text == "onetwo"
    ended = await sandbox.provider.wait_until_closed(sandbox.provider.calls[0])
    assert ended.how == "reset"
    assert sandbox.provider.calls[0].bytes_sent == len(got)


async def test_a_recording_can_be_cut_off_by_a_reset(sandbox):
    sandbox.provider.enqueue(Script(Recording(b"data: {}\n\n" * 10, Reset(), stop_after_bytes=25)))
    async with sandbox.stream(sandbox.native("openai-chat", "hi")) as answer:
        got = await until_reset(answer)
    assert got == (b"data: {}\n\n" * 10)[:25]


async def test_a_caller_that_leaves_a_hanging_stream_is_seen(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text(("only",)),), Hang())))
    async with sandbox.stream(sandbox.native(dialect, "hi")) as answer:
        async for piece in answer.aiter_raw():
            if b"only" in piece:
                break
        call = sandbox.provider.calls[0]
        assert call.ended is None
    ended = await sandbox.provider.wait_until_closed(call)
    assert ended.how == "client-closed"
    assert ended.at.monotonic >= call.first_byte.monotonic >= call.arrived.monotonic


async def test_a_caller_that_leaves_between_two_deltas_is_seen(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream(pace_ms=600_000)))
    async with sandbox.stream(sandbox.native(dialect, "hi")):
        call = await sandbox.provider.wait_for_call()
    assert (await sandbox.provider.wait_until_closed(call)).how == "client-closed"
    assert call.bytes_sent == 0
    assert call.first_byte is None


async def test_a_caller_that_leaves_in_mid_stream_is_seen(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text("word " * 100_000),))))
    async with sandbox.stream(sandbox.native(dialect, "hi")) as answer:
        async for _ in answer.aiter_raw():
            break
    ended = await sandbox.provider.wait_until_closed(sandbox.provider.calls[0])
    assert ended.how == "client-closed"


async def test_an_error_event_ends_the_stream(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text(("one",)),), StreamError(503, "Too much to do."))))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    last = sandbox.payloads(answer.text)[-1]
    assert answer.status_code == 200
    assert (
        last
        == {
            "openai-chat": {
                "error": {
                    "message": "Too much to do.",
                    "type": "server_error",
                    "param": None,
                    "code": "server_error",
                }
            },
            "openai-responses": {
                "type": "error",
                "sequence_number": 5,
                "code": "server_error",
                "message": "Too much to do.",
                "param": None,
            },
            "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Too much to do."}},
            "google": {"error": {"code": 503, "message": "Too much to do.", "status": "UNAVAILABLE"}},
        }[dialect]
    )


async def test_a_stream_may_begin_with_an_error(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((), StreamError(429))))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    assert len(sandbox.payloads(answer.text)) == 1


@pytest.mark.parametrize("form", ["comment", "empty", "ping"])
async def test_keep_alives_drip_without_text(sandbox, dialect, form):
    sandbox.provider.enqueue(Script(Stream((KeepAlive(3, 1, form), Text("done")))))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    mark = {"comment": ": keep-alive", "empty": "data:", "ping": "ping"}[form]
    if form == "ping" and dialect == "openai-responses":
        mark = "event: keepalive"
    lines = answer.text.splitlines()
    assert sum(line in (mark, f": {mark}", f"event: {mark}") for line in lines) == 3
    text = "\n".join(line for line in lines if line != "data:")
    assert sandbox.heard(dialect, text).text == "done"


async def test_a_refusal_by_script_is_native_and_carries_its_headers(sandbox, dialect):
    sandbox.provider.enqueue(Script(Answer(429, {"retry-after": "3"}, message="Slow down.")))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    kind = {
        "openai-chat": "rate_limit_exceeded",
        "openai-responses": "rate_limit_exceeded",
        "anthropic": "rate_limit_error",
        "google": "RESOURCE_EXHAUSTED",
    }[dialect]
    assert kind in answer.text
    assert "Slow down." in answer.text
    ended = sandbox.provider.calls[0].ended
    assert (ended.how, ended.status) == ("refused", 429)
    assert (await sandbox.ask(sandbox.native(dialect, "hi"))).status_code == 200


async def test_a_garbage_page_is_a_200(sandbox, dialect):
    sandbox.provider.enqueue(Script(Answer(200, body=b"<html>login</html>", content_type="text/html")))
    answer = await sandbox.ask(sandbox.native(dialect, "hi"))
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (200, "text/html", "<html>login</html>")


async def test_stopping_the_provider_ends_what_hangs(sandbox):
    sandbox.provider.enqueue(Script(Stream((Text(("x",)),), Hang())))
    async with sandbox.stream(sandbox.native("openai-chat", "hi")) as answer:
        pieces = answer.aiter_raw()
        await anext(pieces)
        await sandbox.provider.stop()
        with pytest.raises(httpx.HTTPError):
            async for _ in pieces:
                pass
    assert sandbox.provider.calls[0].ended.how == "stopped"
