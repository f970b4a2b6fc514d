"""Each layer works alone, and none needs Kafka, Discord or HTTP."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from schemas.chunks import Dialect, DoneChunk
from services.normalizer.assembly import Assembly
from services.normalizer.canonical import CanonicalStream
from services.normalizer.dialects import DIALECTS
from services.normalizer.endings import ConnectionReset, EndOfFile
from services.normalizer.errors.families import family_of
from services.normalizer.event_stream import EventStream
from services.normalizer.events import EndMark, Event, Failed, Finish, TextDelta, ToolCallDelta
from services.normalizer.sse import SseParser
from services.normalizer.sse_event import SseEvent

DELTA = '{"choices":[{"delta":{"content":"Hi"}}]}'


def test_the_normalizer_imports_neither_kafka_nor_discord_nor_http() -> None:
    code = """
import sys
import services.normalizer.stream, services.normalizer.canonical, services.normalizer.reply
print([name for name in ("aiokafka", "discord", "aiohttp", "httpx", "services.runtime") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bytes_become_server_sent_events() -> None:
    assert SseParser().feed(f"event: x\ndata: {DELTA}\n\n".encode()) == [SseEvent(b"x", DELTA.encode())]


def test_a_dialect_reads_single_events() -> None:
    out: list[Event] = []
    DIALECTS["openai-chat"](family_of("openai-chat")).read(SseEvent(b"", DELTA.encode()), out)
    assert out == [TextDelta("Hi")]


def test_an_assembly_makes_chunks_of_events() -> None:
    assembly = Assembly("m", lambda: None)
    (text,) = assembly.take([TextDelta("Hi")])
    assert assembly.take([ToolCallDelta(0, "c", "f", "{}"), Finish("stop", "stop")]) == []
    call, done = assembly.take([EndMark()])
    assert (text.type, call.type) == ("text", "function_call")
    assert isinstance(done, DoneChunk)
    assert done.metadata.finish_reason == "tool_calls"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_event_stream_has_one_terminal_event_and_it_is_the_last(dialect: Dialect) -> None:
    family = family_of(dialect)
    stream = EventStream(DIALECTS[dialect](family), family)
    events = [*stream.feed(b"data: {}\n\n"), *stream.flush(ConnectionReset()), *stream.flush(EndOfFile())]
    assert [isinstance(event, Failed) for event in events] == [True]
    assert stream.feed(b"data: {}\n\n") == []


def canonical(dialect: Dialect, raw: bytes, size: int) -> list[dict[str, object]]:
    stream = CanonicalStream(dialect, "m")
    events = [event for at in range(0, len(raw), size) for event in stream.feed(raw[at : at + size])]
    return events + stream.flush(EndOfFile())


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_canonical_events_of_a_stream_do_not_depend_on_its_cuts(size: int, sse: Callable[..., bytes]) -> None:
    def delta(**delta: object) -> dict[str, object]:
        return {"model": "m", "choices": [{"delta": delta}]}

    raw = sse(
        delta(reasoning="hm"),
        delta(content="a\ud83d"),
        delta(content="\ude00b"),
        delta(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": '{"x": [1,'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": " 2]}"}}]),
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}},
        "[DONE]",
    )
    events = canonical("openai-chat", raw, size)
    assert json.loads(json.dumps(events[:-1])) == [
        {"type": "start", "model": "m", "provider": "openai-chat"},
        {"type": "thinking_delta", "index": 0, "delta": "hm", "signature": None},
        {"type": "text_delta", "index": 1, "delta": "a"},
        {"type": "text_delta", "index": 1, "delta": "😀b"},
        {
            "type": "toolcall_delta",
            "index": 2,
            "id": "call_0",
            "name": "f",
            "raw_json_delta": '{"x": [1,',
            "partial_args": {"x": [1]},
        },
        {
            "type": "toolcall_delta",
            "index": 2,
            "id": "call_0",
            "name": "f",
            "raw_json_delta": " 2]}",
            "partial_args": {"x": [1, 2]},
        },
    ]
    done = events[-1]
    assert (done["type"], done["stop_reason"]) == ("done", "tool_calls")
    assert done["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": None},
        {"type": "text", "text": "a😀b"},
        {"type": "toolcall", "id": "call_0", "name": "f", "arguments": {"x": [1, 2]}},
    ]


def test_a_canonical_stream_that_breaks_ends_with_an_error() -> None:
    assert canonical("anthropic", b"data: {}\n\n", 100)[-1]["type"] == "error"
