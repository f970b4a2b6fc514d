"""Anthropic's messages stream: blocks that open, grow and close.

https://docs.anthropic.com/en/docs/build-with-claude/streaming. Event names repeat the payload's `type`, so only the
payload counts. Unknown events, blocks and deltas are skipped, as the page asks; so are blocks of tools that the
provider runs itself.
"""

import msgspec

from schemas.chunks import FinishReason
from services.normalizer.decode import UNREADABLE, PayloadDecoder, is_object, loads
from services.normalizer.errors import event_error, stream_error
from services.normalizer.events import (
    EndMark,
    Event,
    Failed,
    Finish,
    ReplayPart,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from services.normalizer.sse import SseEvent

_FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(msgspec.Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: object = None


class _Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Payload(msgspec.Struct):
    type: str | None = None
    index: int | None = None
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: _Usage | None = None
    error: object = None


_PAYLOAD = PayloadDecoder(_Payload)


class _Thinking:
    """A thinking block that grows; it goes back to the provider whole, with its signature."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.signature: list[str] = []

    def part(self) -> ReplayPart:
        return ReplayPart({"type": "thinking", "thinking": "".join(self.text), "signature": "".join(self.signature)})


class Anthropic:
    """Reads one messages stream."""

    def __init__(self) -> None:
        self._started = False
        self._message_id: str | None = None
        self._thinking: dict[int, _Thinking] = {}
        self._slots: dict[int, int] = {}
        self._calls = 0
        self._usage = _Usage()

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        payload = _PAYLOAD.decode(event.data)
        if payload is None:
            self._read_odd(event, out)
            return
        kind = payload.type or event.name.decode("utf-8", "replace")
        if kind == "content_block_delta":
            if payload.delta is not None:
                self._read_delta(payload.index or 0, payload.delta, out)
        elif kind == "content_block_start":
            if payload.content_block is not None:
                self._open(payload.index or 0, payload.content_block, out)
        elif kind == "content_block_stop":
            self._stop(payload.index or 0, out)
        elif kind == "message_start":
            self._start(payload.message or _Message(), out)
        elif kind == "message_delta":
            self._count(payload.usage, out)
            if payload.delta is not None:
                self._finish(payload.delta.stop_reason, out)
        elif kind == "message_stop":
            out.append(EndMark())
        elif kind == "error" or payload.error or event.name == b"error":
            self._read_odd(event, out)

    def close(self, out: list[Event]) -> None:
        """Append the thinking blocks that never closed."""
        for index in list(self._thinking):
            self._stop(index, out)

    def _read_odd(self, event: SseEvent, out: list[Event]) -> None:
        """An error, or a payload that is no JSON object."""
        data = event.data.strip()
        text = event.data.decode("utf-8", "replace")
        try:
            payload = loads(data) if data else None
        except UNREADABLE:
            if event.name != b"error":
                out.append(Failed(stream_error("malformed_event", "an event holds no JSON", original=text)))
                return
            payload = text
        if is_object(payload) or isinstance(payload, str):
            out.append(Failed(event_error(payload, event.data)))

    def _start(self, message: _Message, out: list[Event]) -> None:
        if self._started:
            if message.id not in (None, self._message_id):
                out.append(Failed(stream_error("second_message", "another message began inside the stream")))
            return
        self._started = True
        self._message_id = message.id
        out.append(Start(model=message.model or "", response_id=message.id or ""))
        self._count(message.usage, out)
        for index, block in enumerate(message.content or ()):
            self._open(index, block, out)
            self._stop(index, out)
        self._finish(message.stop_reason, out)

    def _open(self, index: int, block: _Block, out: list[Event]) -> None:
        self._stop(index, out)
        if block.type == "text":
            if block.text:
                out.append(TextDelta(block.text))
        elif block.type == "thinking":
            self._thinking[index] = _Thinking()
            self._think(index, block.thinking, block.signature, out)
        elif block.type == "redacted_thinking":
            out.append(ReplayPart({"type": "redacted_thinking", "data": block.data or ""}))
        elif block.type == "tool_use":
            self._slots[index] = self._calls
            self._calls += 1
            given = block.input if is_object(block.input) and block.input else None
            out.append(ToolCallDelta(self._slots[index], block.id or "", block.name or "", given=given))

    def _read_delta(self, index: int, delta: _Delta, out: list[Event]) -> None:
        if delta.type == "text_delta":
            if delta.text:
                out.append(TextDelta(delta.text))
        elif delta.type == "input_json_delta":
            slot = self._slots.get(index)
            if slot is not None and delta.partial_json:
                out.append(ToolCallDelta(slot, arguments=delta.partial_json))
        elif delta.type in ("thinking_delta", "signature_delta"):
            self._think(index, delta.thinking, delta.signature, out)

    def _think(self, index: int, text: str | None, signature: str | None, out: list[Event]) -> None:
        block = self._thinking.get(index)
        if block is None:
            block = self._thinking[index] = _Thinking()
        if text:
            block.text.append(text)
            out.append(ThinkingDelta(text))
        if signature:
            block.signature.append(signature)

    def _stop(self, index: int, out: list[Event]) -> None:
        self._slots.pop(index, None)
        block = self._thinking.pop(index, None)
        if block is not None:
            out.append(block.part())

    def _finish(self, reason: str | None, out: list[Event]) -> None:
        if reason:
            out.append(Finish(_FINISHES.get(reason), reason))

    def _count(self, usage: _Usage | None, out: list[Event]) -> None:
        """Counts are cumulative: each that is present replaces the one before."""
        if usage is None:
            return
        for name in _Usage.__struct_fields__:
            if getattr(usage, name) is not None:
                setattr(self._usage, name, getattr(usage, name))
        now = self._usage
        written, read = now.cache_creation_input_tokens, now.cache_read_input_tokens
        taken = None if now.input_tokens is None else now.input_tokens + (written or 0) + (read or 0)
        total = None if taken is None or now.output_tokens is None else taken + now.output_tokens
        out.append(UsageReport(taken, now.output_tokens, read, written, total_tokens=total))
