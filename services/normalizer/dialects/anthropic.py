"""Anthropic's messages stream: blocks that open, grow and close.

https://docs.anthropic.com/en/docs/build-with-claude/streaming. Event names repeat the payload's `type`, so only the
payload counts. Unknown events, blocks and deltas are skipped, as the page asks. Blocks of tools that the provider runs
itself are told apart from calls that we must run.
"""

from typing import Any

from schemas.chunks import FinishReason, ProviderError, Usage
from services.normalizer.decode import UNREADABLE, counts, is_object, merged, object_at, word
from services.normalizer.dialects.anthropic_blocks import Blocks
from services.normalizer.dialects.anthropic_wire import PAYLOAD, Delta, Message, Payload
from services.normalizer.dialects.odd_events import read_odd, tells_refusal
from services.normalizer.errors import stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import EndMark, Event, Failed, Finish, Start, TextDelta, ToolCallDelta
from services.normalizer.sse_event import SseEvent

_FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

_STRICT = PAYLOAD.strict


class Anthropic:
    """Reads one messages stream."""

    def __init__(self, family: Family) -> None:
        self.finished = False
        self._family = family
        self._started = False
        self._message_id: str | None = None
        self._blocks = Blocks()
        self._usage: dict[str, Any] | None = None

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        payload: Payload | None
        try:
            payload = _STRICT(event.data)
        except UNREADABLE:
            payload = PAYLOAD.fitted(event.data)
        if payload is None:
            read_odd(event, out, self._family)
            return
        kind = payload.type or event.name.decode("utf-8", "replace")
        if kind == "content_block_delta":
            delta = payload.delta
            if delta is None:
                return
            if delta.type == "text_delta":
                if delta.text:
                    out.append(TextDelta(delta.text))
            else:
                self._read_delta(payload.index or 0, delta, out)
            return
        if kind == "content_block_start":
            if payload.content_block is not None:
                self._blocks.open(payload.index or 0, payload.content_block, out)
        elif kind == "content_block_stop":
            self._blocks.stop(payload.index or 0, out)
        elif kind == "message_start":
            self._start(payload.message or Message(), out)
        elif kind == "message_delta":
            self._count(payload.usage)
            if payload.delta is not None:
                self._finish(payload.delta.stop_reason, payload.delta.stop_details, out)
        elif kind == "message_stop":
            out.append(EndMark())
        elif kind == "error" or payload.error or event.name == b"error" or (not payload.type and tells_refusal(event)):
            read_odd(event, out, self._family)

    def close(self, out: list[Event]) -> None:
        """Append the blocks that never closed, and the usage."""
        self._blocks.close(out)
        if self._usage is not None:
            out.append(_report(self._usage))

    def _read_delta(self, index: int, delta: Delta, out: list[Event]) -> None:
        match delta.type:
            case "input_json_delta":
                if delta.partial_json:
                    slot = self._blocks.slots.get(index)
                    if slot is not None:
                        out.append(ToolCallDelta(slot, arguments=delta.partial_json))
                    else:
                        self._blocks.grow_input(index, delta.partial_json)
            case "thinking_delta" | "signature_delta":
                self._blocks.think(index, delta.thinking, delta.signature, out)
            case _:
                return

    def _start(self, message: Message, out: list[Event]) -> None:
        if self._started:
            if message.id not in (None, self._message_id):
                out.append(Failed(stream_error("second_message", "another message began inside the stream")))
            return
        self._started = True
        self._message_id = message.id
        out.append(Start(model=message.model or "", response_id=message.id or ""))
        self._count(message.usage)
        for index, block in enumerate(message.content or ()):
            self._blocks.open(index, block, out)
            self._blocks.stop(index, out)
        self._finish(message.stop_reason, message.stop_details, out)

    def _finish(self, reason: str | None, details: object, out: list[Event]) -> None:
        if reason:
            self.finished = True
            explained = word(details, "explanation") if reason == "refusal" else ""
            error: ProviderError | None = None
            if explained:
                error = ProviderError(type="content_blocked", code=reason, message=explained, retryable=False)
            out.append(Finish(_FINISHES.get(reason), reason, error))

    def _count(self, usage: object) -> None:
        if is_object(usage):
            self._usage = merged(self._usage, usage)


def _report(usage: dict[str, Any]) -> Usage:
    """`input_tokens` has what was written to the cache and read from it, which the provider counts apart."""
    fresh, given, written, read, thought = counts(
        (
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            usage.get("cache_creation_input_tokens"),
            usage.get("cache_read_input_tokens"),
            object_at(usage, "output_tokens_details").get("thinking_tokens"),
        )
    )
    counted = not (fresh is None and written is None and read is None)
    taken = (fresh or 0) + (written or 0) + (read or 0) if counted else None
    return Usage(
        input_tokens=taken,
        output_tokens=given,
        cached_input_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=thought,
        total_tokens=None if taken is None or given is None else taken + given,
        raw=usage,
    )
