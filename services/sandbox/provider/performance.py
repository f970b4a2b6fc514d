"""The order of writes and waits that a script's play comes to; pure, so that a test can read it without a clock."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from services.sandbox.provider.dialects.base import Encoder
from services.sandbox.provider.neutral import Usage
from services.sandbox.provider.script import (
    AtBytes,
    Cuts,
    EachEvent,
    Eof,
    EveryBytes,
    Finish,
    Hang,
    KeepAlive,
    Pause,
    Recording,
    Reply,
    Reset,
    Stream,
    StreamEnding,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Whole,
)

_DELTA = re.compile(r"\s*\S{1,24}|\s+\Z")
_EVENT = re.compile(rb".+?(?:\n\n|\r\n\r\n|\r\r|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes for one write to the connection."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Silence of `ms` milliseconds; 0 still lets other work run, so that two writes stay two."""

    ms: float


@dataclass(frozen=True, slots=True)
class _Beat:
    """The pace's wait before one delta."""


_Uncut = Write | Wait | _Beat


def split_deltas(text: str) -> list[str]:
    """Split text into deltas of about a word with the space before it; joined they are the text again."""
    return _DELTA.findall(text)


def perform_stream(
    play: Stream, encoder: Encoder, reply: str, input_tokens: int, pace_ms: float
) -> Iterator[Write | Wait]:
    """Writes and waits of a stream up to its ending; what Eof, Reset and Hang do to the connection is the server's."""
    acts = _cut(_stream_acts(play, encoder, reply, input_tokens), play.cuts, _pace(play.pace_ms, pace_ms))
    return _limited(acts, play.stop_after_bytes)


def perform_recording(play: Recording, encoder: Encoder, pace_ms: float) -> Iterator[Write | Wait]:
    """Writes and waits of a recording up to its ending."""
    acts = _cut(_recording_acts(play, encoder), play.cuts, _pace(play.pace_ms, pace_ms))
    return _limited(acts, play.stop_after_bytes)


def _pace(own: float | None, default: float) -> float:
    return default if own is None else own


def _deltas(text: str | tuple[str, ...]) -> list[str]:
    return split_deltas(text) if isinstance(text, str) else list(text)


def _stream_acts(play: Stream, encoder: Encoder, reply: str, input_tokens: int) -> Iterator[_Uncut]:
    counted = _Count(input_tokens)
    for step in play.steps:
        match step:
            case Reply():
                yield from _text_acts(encoder, split_deltas(reply)[: step.deltas], counted)
            case Text():
                yield from _text_acts(encoder, _deltas(step.text), counted)
            case Thinking():
                for delta in _deltas(step.text):
                    counted.thinking += 1
                    yield _Beat()
                    yield from _writes(encoder.thinking(delta))
            case ToolCall():
                counted.calls += 1
                for event in encoder.tool_call(step):
                    yield _Beat()
                    yield Write(event)
            case Pause():
                yield Wait(step.ms)
            case KeepAlive():
                for _ in range(step.count):
                    yield Wait(step.every_ms)
                    yield Write(_keep_alive(step, encoder))
            case _:
                assert_never(step)
    yield from _writes(_ending(play.ending, encoder, counted))


@dataclass(slots=True)
class _Count:
    input_tokens: int
    text: int = 0
    thinking: int = 0
    calls: int = 0

    def usage(self) -> Usage:
        return Usage(self.input_tokens, self.text + self.thinking + self.calls, self.thinking)


def _text_acts(encoder: Encoder, deltas: Iterable[str], counted: _Count) -> Iterator[_Uncut]:
    for delta in deltas:
        counted.text += 1
        yield _Beat()
        yield from _writes(encoder.text(delta))


def _ending(ending: StreamEnding, encoder: Encoder, counted: _Count) -> list[bytes]:
    match ending:
        case Finish():
            reason = ending.reason or ("tool_calls" if counted.calls else "stop")
            return encoder.finish(reason, ending.usage or counted.usage())
        case StreamError():
            return [encoder.error(ending.status, ending.message)]
        case Eof() | Reset() | Hang():
            return []
        case _:
            assert_never(ending)


def _keep_alive(step: KeepAlive, encoder: Encoder) -> bytes:
    match step.form:
        case "comment":
            return b": keep-alive\n\n"
        case "empty":
            return b"data:\n\n"
        case "ping":
            return encoder.ping()
        case _:
            assert_never(step.form)


def _recording_acts(play: Recording, encoder: Encoder) -> Iterator[_Uncut]:
    for event in _EVENT.finditer(play.body):
        yield _Beat()
        yield Write(event.group())
    if isinstance(play.ending, StreamError):
        yield Write(encoder.error(play.ending.status, play.ending.message))


def _writes(events: Iterable[bytes]) -> Iterator[Write]:
    return (Write(event) for event in events)


def _cut(acts: Iterator[_Uncut], cuts: Cuts, pace_ms: float) -> Iterator[Write | Wait]:
    """Rearrange the writes; a `Wait` first lets out what was held back, since a silent provider has sent it."""
    if isinstance(cuts, EachEvent):
        for act in acts:
            yield Wait(pace_ms) if isinstance(act, _Beat) else act
        return
    held = bytearray()
    sent = 0
    for act in acts:
        match act:
            case _Beat():
                pass
            case Write():
                held += act.data
                while (size := _next_cut(cuts, sent)) is not None and len(held) >= size:
                    yield Write(bytes(held[:size]))
                    yield Wait(pace_ms)
                    del held[:size]
                    sent += size
            case Wait():
                if held:
                    yield Write(bytes(held))
                    sent += len(held)
                    held.clear()
                yield act
            case _:
                assert_never(act)
    if held:
        yield Write(bytes(held))


def _next_cut(cuts: EveryBytes | AtBytes | Whole, sent: int) -> int | None:
    match cuts:
        case Whole():
            return None
        case EveryBytes():
            return cuts.count
        case AtBytes():
            return min((position - sent for position in cuts.positions if position > sent), default=None)
        case _:
            assert_never(cuts)


def _limited(acts: Iterator[Write | Wait], limit: int | None) -> Iterator[Write | Wait]:
    if limit is None:
        yield from acts
        return
    left = limit
    for act in acts:
        if isinstance(act, Write):
            if len(act.data) >= left:
                if left:
                    yield Write(act.data[:left])
                return
            left -= len(act.data)
        yield act
