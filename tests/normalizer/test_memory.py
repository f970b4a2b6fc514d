"""What a provider's stream may do to memory: what is kept of it, for how many at once, and where it ends."""

import gc
import json
import re
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schemas.chunks import Dialect
from schemas.raw import RawOrigin, RawSlice
from services.normalizer.dialects.google import MAX_CONTAINERS
from services.normalizer.event_stream import MAX_STREAM_BYTES
from services.normalizer.sse import MAX_EVENT_BYTES
from services.normalizer.stream import StreamNormalizer
from services.normalizer.streams import Counted, Streams
from services.normalizer.tool_calls import MAX_CALLS
from services.runtime.inbound import Pending

OPERATING = (Path(__file__).parents[2] / "docs/operating.md").read_text(encoding="utf-8")
KB = 1024
FED = 64 * KB
SLICE = 4 * KB
OF_ITS_OWN = 6 * KB
"""What an open stream takes without any of its content."""


def framed(*payloads: object) -> bytes:
    return "".join(f"data: {json.dumps(payload, separators=(',', ':'))}\n\n" for payload in payloads).encode()


def chat(**delta: object) -> bytes:
    return framed({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]})


def block_of(kind: str) -> bytes:
    return framed({"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}})


def gemini(*parts: object) -> bytes:
    return framed({"candidates": [{"content": {"parts": parts}}], "modelVersion": "m"})


@dataclass(frozen=True)
class Case:
    """A stream that says one thing for ever."""

    dialect: Dialect
    unit: Callable[[str], bytes]
    head: bytes = b""

    def body(self, size: int, text: str) -> bytes:
        unit = self.unit(text)
        return self.head + unit * ((size - len(self.head)) // len(unit))


def delta_of(kind: str, field: str) -> Callable[[str], bytes]:
    return lambda text: framed({"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: text}})


PASSING = {
    "chat text": Case("openai-chat", lambda text: chat(content=text)),
    "chat reasoning": Case("openai-chat", lambda text: chat(reasoning=text)),
    "anthropic text": Case("anthropic", delta_of("text_delta", "text"), block_of("text")),
    "novelai text": Case("novelai", lambda text: framed({"token": text, "ptr": 0})),
}
"""What leaves the normalizer at once."""

KEPT = {
    "chat arguments": Case(
        "openai-chat", lambda text: chat(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": text}}])
    ),
    "chat reasoning details": Case(
        "openai-chat", lambda text: chat(reasoning_details=[{"type": "reasoning.text", "text": text, "index": 0}])
    ),
    "anthropic thinking": Case("anthropic", delta_of("thinking_delta", "thinking"), block_of("thinking")),
    "responses text": Case(
        "openai-responses",
        lambda text: framed(
            {"type": "response.output_text.delta", "item_id": "a", "output_index": 0, "content_index": 0, "delta": text}
        ),
    ),
    "google text": Case("google", lambda text: gemini({"text": text})),
    "google thoughts": Case("google", lambda text: gemini({"text": text, "thought": True})),
}
"""What the end needs whole: arguments, what must be sent back to the provider, and text that a later event repeats."""

HOSTILE = {
    "a slot a call": Case("openai-chat", lambda _: chat(tool_calls=[{"index": slot} for slot in range(MAX_CALLS)])),
    "nothing but signatures": Case("google", lambda _: gemini(*[{"text": "", "thoughtSignature": "a"}] * 1_000)),
    "parts of empty lists": Case("google", lambda _: gemini({"executableCode": {"code": [[]] * 1_000}})),
    "parts of empty objects": Case("google", lambda _: gemini({"executableCode": {"code": [{}] * 1_000}})),
}
"""Streams that are made to be larger in memory than on the wire."""


@pytest.fixture
def grown() -> Iterator[Callable[[], int]]:
    """Bytes that are held now beyond those at the test's start."""
    gc.collect()
    tracemalloc.start()
    began = tracemalloc.get_traced_memory()[0]

    def now() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - began

    yield now
    tracemalloc.stop()


def fed(case: Case, size: int, text: str = "word " * 4) -> StreamNormalizer:
    stream = StreamNormalizer(case.dialect, "m")
    body = case.body(size, text)
    for at in range(0, len(body), SLICE):
        stream.feed(body[at : at + SLICE])
    assert not stream.over
    return stream


@pytest.mark.parametrize("name", PASSING)
def test_of_text_that_has_left_nothing_is_kept(name: str, grown: Callable[[], int]) -> None:
    fed(PASSING[name], FED)
    before = grown()
    streams = [fed(PASSING[name], size) for size in (FED, 2 * FED) for _ in range(8)]
    assert grown() - before < len(streams) * OF_ITS_OWN


@pytest.mark.parametrize("name", KEPT)
def test_what_the_end_needs_is_kept_in_less_than_its_bytes(name: str, grown: Callable[[], int]) -> None:
    fed(KEPT[name], FED)
    before = grown()
    stream = fed(KEPT[name], FED)
    size = grown() - before
    assert FED // 10 < size < FED + OF_ITS_OWN
    del stream


@pytest.mark.parametrize("name", HOSTILE)
def test_a_stream_that_is_made_to_hurt_takes_no_more_memory_a_byte_than_the_page_says(
    name: str, grown: Callable[[], int]
) -> None:
    [factor] = re.findall(r"at worst (\d+) bytes of memory for a byte", OPERATING)
    fed(HOSTILE[name], FED)
    before = grown()
    stream = fed(HOSTILE[name], 4 * FED)
    size = grown() - before
    assert size < int(factor) * 4 * FED
    del stream


@pytest.mark.parametrize(
    "part",
    [
        {"text": "", "thoughtSignature": "a"},
        {"functionCall": {"name": "f"}},
        {"executableCode": {"code": [[]] * 1_000}},
        {"executableCode": {"code": [{}] * 1_000}},
    ],
)
def test_tiny_parts_without_end_stop_at_a_limit(part: object, grown: Callable[[], int]) -> None:
    [most] = re.findall(r"(\d+) MB however many parts", OPERATING)
    unit = gemini(*[part] * 100)
    stream = StreamNormalizer("google", "m")
    reads = 0
    chunks: list[Any] = []
    while not stream.over:
        chunks = stream.feed(unit)
        reads += 1
        assert reads * unit.count(b"{") < 2 * MAX_CONTAINERS
    assert chunks[-1].error.code == "reply_too_large"
    assert not chunks[-1].error.retryable
    assert grown() < int(most) * KB * KB


def test_a_thousand_open_streams_take_what_the_page_says(grown: Callable[[], int]) -> None:
    """A hundred of each kind, in deltas of 900 characters and records of 4 KB, with what the worker holds for a record."""
    [(passing, kept)] = re.findall(r"(\d+) KB a stream[^.]* (\d+) KB a stream", OPERATING)
    streams: Streams[Pending] = Streams()
    text = "word " * 180
    cases = [(case, int(passing) * KB) for case in PASSING.values()] + [
        (case, int(kept) * KB) for case in KEPT.values()
    ]
    for kind, (case, said) in enumerate(cases):
        before = grown()
        body = case.body(FED, text)
        for number in range(100):
            origin = RawOrigin(f"m{kind}-{number}", 1, "provider-0", case.dialect, "m")
            for sequence, at in enumerate(range(0, len(body), SLICE)):
                raw = RawSlice(origin, sequence, 200, "text/event-stream")
                assert isinstance(streams.slice(raw, body[at : at + SLICE], lambda: Pending(int)), Counted)
        del body, raw
        assert said / 3 < (grown() - before) / 100 < said, case
    assert len(streams) == 1_000


def test_a_text_without_end_stops_at_the_limit_and_is_not_kept(grown: Callable[[], int]) -> None:
    unit = chat(content="x" * 64 * KB)
    stream = StreamNormalizer("openai-chat", "m")
    for _ in range(MAX_STREAM_BYTES // len(unit)):
        assert [chunk.type for chunk in stream.feed(unit)] == ["text"]
    kinds = [chunk.type for _ in range(3) for chunk in stream.feed(unit)]
    assert kinds[-1] == "error"
    assert stream.over
    assert tracemalloc.get_traced_memory()[1] < 8 * len(unit)
    assert grown() < len(unit) + 64 * KB


def test_an_event_without_end_stops_at_the_limit_and_is_dropped(grown: Callable[[], int]) -> None:
    stream = StreamNormalizer("openai-chat", "m")
    piece = b"x" * KB * KB
    chunks: list[Any] = stream.feed(b"data: ")
    while not chunks:
        chunks = stream.feed(piece)
    assert [chunk.error.code for chunk in chunks] == ["event_too_large"]
    assert stream.over
    assert tracemalloc.get_traced_memory()[1] < MAX_EVENT_BYTES + 4 * len(piece)
    assert grown() < 2 * len(piece)


def test_comments_without_end_stop_at_the_limit_and_are_not_kept(grown: Callable[[], int]) -> None:
    stream = StreamNormalizer("openai-chat", "m")
    piece = (b": " + b"still here " * 6_000 + b"\n\n") * 16
    chunks: list[Any] = []
    while not chunks:
        chunks = stream.feed(piece)
    assert [chunk.error.code for chunk in chunks] == ["stream_too_large"]
    assert grown() < 2 * len(piece)
