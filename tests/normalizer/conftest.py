"""What the normalizer's tests share: a stream played to its end, and what came of it as one value."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from schemas.chunks import (
    Dialect,
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FunctionCall,
    FunctionCallChunk,
    ProcessedChunk,
    ProviderError,
    TextChunk,
    Usage,
)
from services.normalizer.endings import Ending, EndOfFile
from services.normalizer.stream import StreamNormalizer

DATA = Path(__file__).parent.parent / "data" / "normalizer"


@dataclass
class Reply:
    """All chunks of a stream, joined."""

    text: str = ""
    thoughts: list[tuple[str, str]] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    metadata: DoneMetadata | None = None
    error: ProviderError | None = None
    usage: Usage | None = None
    serving_provider: str | None = None

    @property
    def thinking(self) -> str:
        return "".join(content for _, content in self.thoughts)

    @property
    def arguments(self) -> list[tuple[str, dict[str, Any]]]:
        return [(call.name, call.args) for call in self.calls if not call.arguments_truncated]

    def add(self, chunk: ProcessedChunk) -> None:
        assert self.metadata is None, "a chunk after the terminal one"
        for entry in chunk.thoughts:
            if self.thoughts and self.thoughts[-1][0] == entry.kind:
                self.thoughts[-1] = (entry.kind, self.thoughts[-1][1] + entry.content)
            else:
                self.thoughts.append((entry.kind, entry.content))
        self.usage = chunk.usage or self.usage
        self.serving_provider = self.serving_provider or chunk.serving_provider
        match chunk:
            case TextChunk():
                self.text += chunk.content
            case FunctionCallChunk():
                self.calls.append(chunk.function_call)
            case ErrorChunk():
                self.error, self.metadata = chunk.error, chunk.metadata
            case DoneChunk():
                self.metadata = chunk.metadata


def replay(
    dialect: Dialect,
    pieces: Iterable[bytes],
    ending: Ending | None = None,
    *,
    http_status: int = 200,
    content_type: str = "text/event-stream",
    **guarding: Any,
) -> Reply:
    stream = StreamNormalizer(dialect, "asked-for", http_status=http_status, content_type=content_type, **guarding)
    reply = Reply()
    for piece in pieces:
        for chunk in stream.feed(piece):
            reply.add(chunk)
    for chunk in stream.flush(EndOfFile() if ending is None else ending):
        reply.add(chunk)
    assert reply.metadata is not None, "no terminal chunk"
    return reply


def framed(*payloads: object) -> bytes:
    """An event a payload; a string stands for itself."""
    texts = (payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


@pytest.fixture(scope="session")
def play() -> Callable[..., Reply]:
    """Feed pieces to a new normalizer, end the stream, and join what came out."""
    return replay


@pytest.fixture
def chat() -> Callable[..., Reply]:
    """Play chat deltas of choice 0, with a finish reason unless told otherwise."""

    def run(*deltas: dict[str, Any], finish: str | None = "stop", ending: Ending | None = None) -> Reply:
        payloads = [{"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        if finish:
            payloads.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        return replay("openai-chat", [framed(*payloads)], ending)

    return run


@pytest.fixture(scope="session")
def sse() -> Callable[..., bytes]:
    """Frame payloads as events."""
    return framed


@pytest.fixture
def data_dir() -> Path:
    return DATA
