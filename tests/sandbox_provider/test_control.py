"""The control API and the book of calls, as a page or another language would use them."""

import asyncio
import json
from contextlib import suppress

import httpx
import pytest
from inline_snapshot import snapshot

from services.sandbox.provider.neutral import Usage
from services.sandbox.provider.recording import Call, CallBook, Ended, Moment
from services.sandbox.provider.script import (
    AtBytes,
    Finish,
    Hang,
    KeepAlive,
    Pause,
    Recording,
    Reply,
    Script,
    ScriptError,
    Stream,
    Text,
    Thinking,
    ToolCall,
    parse_script,
)
from services.sandbox.provider.scripts_queue import QueueFullError, ScriptQueue
from services.sandbox.provider.server import serve


async def test_calls_are_listed_without_secrets(sandbox, dialect):
    request = sandbox.native(dialect, "hi")
    request.headers.update({"x-odradek-turn": "t-1", "x-odradek-generation": "2", "cookie": "c"})
    body = await sandbox.ask(request)
    listed = await sandbox.http.get("/_sandbox/calls")
    assert "sandbox-key" not in listed.text
    [call] = listed.json()["calls"]
    assert (call["turn"], call["generation"], call["dialect"], call["model"]) == ("t-1", "2", dialect, "sandbox-echo")
    assert call["body"] == request.body
    assert not {"authorization", "x-api-key", "x-goog-api-key", "cookie"} & set(call["headers"])
    assert call["bytes_sent"] == len(body.content)
    assert call["arrived"]["monotonic"] <= call["first_byte"]["monotonic"] <= call["ended"]["at"]["monotonic"]
    assert (call["ended"]["how"], call["ended"]["status"]) == ("completed", 200)


async def test_a_script_for_a_text_waits_for_that_text(sandbox):
    script = {"play": {"kind": "stream", "steps": [{"kind": "text", "text": "found"}]}, "contains": "needle"}
    answer = await sandbox.http.post("/_sandbox/scripts", json=script)
    assert (answer.status_code, answer.json()) == (201, {"scripts": 1})
    assert "found" not in (await sandbox.ask(sandbox.native("openai-chat", "hay"))).text
    assert "found" in (await sandbox.ask(sandbox.native("openai-chat", "a needle in hay"))).text
    assert "found" not in (await sandbox.ask(sandbox.native("openai-chat", "a needle in hay"))).text


async def test_scripts_are_played_in_order_as_often_as_they_say(sandbox):
    for text, times in (("one", 2), ("two", None)):
        script = {"play": {"kind": "stream", "steps": [{"kind": "text", "text": text}]}, "times": times}
        await sandbox.http.post("/_sandbox/scripts", json=script)
    request = sandbox.native("anthropic", "hi")
    texts = [sandbox.heard("anthropic", (await sandbox.ask(request)).text).text for _ in range(4)]
    assert texts == ["one", "one", "two", "two"]
    await sandbox.http.post("/_sandbox/reset", json={})
    assert sandbox.provider.calls == ()
    assert "two" not in sandbox.heard("anthropic", (await sandbox.ask(request)).text).text.split()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"play": {"kind": "opera"}}',
        '{"play": {"kind": "stream", "pace": 3}}',
        '{"play": {"kind": "stream", "ending": {"kind": "reset", "x": 1}}}',
        '{"times": 0}',
        '{"play": {"kind": "answer", "status": 429, "headers": {"a": "b\\r\\nc"}}}',
    ],
)
async def test_a_script_that_cannot_be_read_is_refused_with_the_place(sandbox, text):
    answer = await sandbox.http.post("/_sandbox/scripts", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_the_message_of_an_unreadable_script():
    with pytest.raises(ScriptError) as caught:
        parse_script(b'{"play": {"kind": "stream", "pace_ms": -1, "cuts": {"kind": "every-bytes", "count": 0}}}')
    assert str(caught.value) == snapshot(
        "play.stream.pace_ms: Input should be greater than or equal to 0; "
        "play.stream.cuts.every-bytes.count: Input should be greater than or equal to 1"
    )


def test_every_kind_of_script_can_be_written_as_json():
    script = parse_script(
        json.dumps(
            {
                "model": "m",
                "contains": "c",
                "dialect": "google",
                "times": 3,
                "play": {
                    "kind": "stream",
                    "pace_ms": 5,
                    "stop_after_bytes": 900,
                    "cuts": {"kind": "at-bytes", "positions": [3, 9]},
                    "steps": [
                        {"kind": "pause", "ms": 10},
                        {"kind": "keep-alive", "count": 2, "every_ms": 5, "form": "ping"},
                        {"kind": "thinking", "text": ["a", "b"]},
                        {"kind": "reply", "deltas": 4},
                        {"kind": "tool-call", "name": "t", "arguments": ["{", "}"], "id": "x"},
                    ],
                    "ending": {
                        "kind": "finish",
                        "reason": "length",
                        "usage": {"input_tokens": 1, "output_tokens": 2},
                    },
                },
            }
        ).encode()
    )
    assert script == snapshot(
        Script(
            play=Stream(
                steps=(
                    Pause(ms=10.0),
                    KeepAlive(count=2, every_ms=5.0, form="ping"),
                    Thinking(text=("a", "b")),
                    Reply(deltas=4),
                    ToolCall(name="t", arguments=("{", "}"), id="x"),
                ),
                ending=Finish(reason="length", usage=Usage(input_tokens=1, output_tokens=2)),
                pace_ms=5.0,
                cuts=AtBytes(positions=(3, 9)),
                stop_after_bytes=900,
            ),
            model="m",
            contains="c",
            dialect="google",
            times=3,
        )
    )
    recording = parse_script(b'{"play": {"kind": "recording", "body": "data: {}\\n\\n", "ending": {"kind": "hang"}}}')
    assert recording == snapshot(Script(play=Recording(body=b"data: {}\n\n", ending=Hang())))


async def test_a_foreign_page_cannot_post(sandbox):
    for path in ("/_sandbox/scripts", "/_sandbox/reset"):
        answer = await sandbox.http.post(path, content="{}", headers={"content-type": "text/plain"})
        assert answer.status_code == 415


async def test_events_tell_a_calls_life_and_go_on_after_a_number(sandbox):
    sandbox.provider.enqueue(Script(Stream((Text(("x",)),), Hang())))
    async with sandbox.http.stream("GET", "/_sandbox/events") as events:
        lines = events.aiter_lines()
        async with sandbox.stream(sandbox.native("openai-chat", "hi")) as answer:
            await anext(answer.aiter_raw())
            assert [await anext(lines), await anext(lines)] == ["id: 1", "event: arrived"]
            assert json.loads((await anext(lines)).removeprefix("data: "))["ended"] is None
            await anext(lines)
            assert [await anext(lines), await anext(lines)] == ["id: 2", "event: first-byte"]
            await anext(lines)
            await anext(lines)
        assert [await anext(lines), await anext(lines)] == ["id: 3", "event: ended"]
        assert json.loads((await anext(lines)).removeprefix("data: "))["ended"]["how"] == "client-closed"
    async with sandbox.http.stream("GET", "/_sandbox/events?after=2") as events:
        assert await anext(events.aiter_lines()) == "id: 3"
    assert (await sandbox.http.get("/_sandbox/events?after=x")).status_code == 400


async def test_health_names_models_and_counts(sandbox):
    sandbox.provider.enqueue(Script(model="extra"))
    assert (await sandbox.http.get("/_sandbox/health")).json() == snapshot(
        {
            "status": "ok",
            "calls": 0,
            "open_calls": 0,
            "scripts": 1,
            "models": ["sandbox-echo", "sandbox-long", "sandbox-code", "sandbox-marked", "sandbox-lines", "extra"],
        }
    )


async def test_waiting_for_a_call_that_does_not_come_times_out(sandbox):
    with pytest.raises(TimeoutError):
        await sandbox.provider.wait_for_call(lambda call: call.turn == "never", timeout=0.01)


async def test_a_waiter_is_told_of_the_call_it_waits_for(sandbox):
    waiting = asyncio.create_task(sandbox.provider.wait_for_call(lambda call: call.turn == "b"))
    for turn in ("a", "b"):
        request = sandbox.native("openai-chat", "hi")
        request.headers["x-odradek-turn"] = turn
        await sandbox.ask(request)
    assert (await waiting).turn == "b"


async def test_serve_tells_its_address_and_stops_when_cancelled():
    ready = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(ready=ready.set_result))
    address = await ready
    async with httpx.AsyncClient(base_url=address.url) as http:
        assert (await http.get("/_sandbox/health")).json()["status"] == "ok"
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        with pytest.raises(httpx.ConnectError):
            await http.get("/_sandbox/health")


def a_call(book, body_bytes=1):
    moment = Moment(0, 0)
    return Call(book.next_id(), "google", "m", moment, {}, {}, body_bytes, None, None)


def test_the_book_forgets_the_oldest_ended_calls():
    book = CallBook(calls_kept=2, body_bytes_kept=100, events_kept=3)
    calls = [a_call(book) for _ in range(3)]
    for call in calls:
        book.add(call)
    assert book.calls == tuple(calls), "running calls are kept"
    book.end(calls[1], Ended("completed", Moment(1, 1), 200))
    book.add(a_call(book))
    assert calls[1] not in book.calls
    assert [event.sequence for event in book.events_after(0)] == [3, 4, 5]
    book.end(calls[0], Ended("completed", Moment(1, 1), 200))
    book.add(a_call(book, body_bytes=100))
    assert calls[0] not in book.calls


def test_only_the_first_end_of_a_call_counts():
    book = CallBook()
    call = a_call(book)
    book.add(call)
    book.end(call, Ended("reset", Moment(1, 1), 200))
    book.end(call, Ended("client-closed", Moment(2, 2), 200))
    assert call.ended.how == "reset"


def test_the_queue_is_bounded():
    queue = ScriptQueue(limit=1)
    queue.add(Script())
    with pytest.raises(QueueFullError):
        queue.add(Script())
