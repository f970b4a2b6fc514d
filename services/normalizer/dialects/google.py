"""Google's generateContent stream, as Gemini and Vertex speak it: whole candidates, piece by piece.

https://ai.google.dev/api/generate-content. Calls have no id, or one from Vertex; a thought signature belongs to the part
that carries it (https://ai.google.dev/gemini-api/docs/thought-signatures), so signed parts are kept whole and in order.
Parts are read before the finish reason, since text may still follow an early STOP; there is no end mark, so the end of
the body is the end.
"""

from typing import Any

import msgspec

from schemas.chunks import FinishReason, ProviderError, Usage
from services.normalizer.decode import UNREADABLE, counts, word
from services.normalizer.dialects.google_parts import Parts
from services.normalizer.dialects.google_wire import CHUNK, REPORT, Chunk, Counts
from services.normalizer.dialects.odd_events import read_odd, tells_refusal
from services.normalizer.errors import stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import Event, Failed, Finish, Start
from services.normalizer.sse_event import SseEvent

_FINISHES: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            "SAFETY",
            "OTHER",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "LANGUAGE",
            "MODEL_ARMOR",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "IMAGE_OTHER",
        ),
        "content_filter",
    ),
    **dict.fromkeys(
        (
            "MALFORMED_FUNCTION_CALL",
            "MALFORMED_RESPONSE",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
            "NO_IMAGE",
        ),
        "error",
    ),
}
_WORTH_ANOTHER_TRY = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "NO_IMAGE"})


MAX_CONTAINERS = 200_000
"""Objects and lists in the events of a stream that have parts to keep: one of 3 bytes on the wire takes 72 in memory, and a
part or a call several hundred. A long reply has ten a read."""


_STRICT = CHUNK.strict


class Google:
    """Reads one stream of candidates; only candidate 0 counts."""

    def __init__(self, family: Family) -> None:
        self.finished = False
        self._family = family
        self._model = ""
        self._response_id = ""
        self._usage: Counts | None = None
        self._report = b""
        self._has_counts = False
        self._parts = Parts()
        self._room = MAX_CONTAINERS

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        chunk: Chunk | None
        try:
            chunk = _STRICT(event.data)
        except UNREADABLE:
            chunk = CHUNK.fitted(event.data)
        if chunk is None or chunk.error or event.name == b"error":
            read_odd(event, out, self._family)
            return
        if (chunk.model and chunk.model != self._model) or (chunk.response_id and not self._response_id):
            self._model = chunk.model or self._model
            self._response_id = self._response_id or chunk.response_id or ""
            out.append(Start(self._model, self._response_id))
        usage = chunk.usage
        # Counts are cumulative, so the latest report with a count stands.
        if usage is not None and (usage.prompt is not None or not self._has_counts or _is_counted(usage)):
            self._usage = usage
            self._report = event.data
            self._has_counts = self._has_counts or _is_counted(usage)
        if chunk.feedback and (blocked := _blocked(chunk.feedback)) is not None:
            out.append(Failed(blocked))
            return
        candidates = chunk.candidates
        if candidates is None:
            if usage is None and not (chunk.feedback or self.finished) and tells_refusal(event):
                read_odd(event, out, self._family)
            return
        for candidate in candidates:
            if not candidate.index:
                parts = candidate.content.parts if candidate.content is not None else None
                if parts and self._parts.read(parts, out) and not self._has_room(event.data):
                    message = f"a reply of more than {MAX_CONTAINERS} objects and lists"
                    out.append(Failed(stream_error("reply_too_large", message, retryable=False)))
                    return
                if candidate.finish_reason and candidate.finish_reason != "FINISH_REASON_UNSPECIFIED":
                    self.finished = True
                    out.append(_finish(candidate.finish_reason, candidate.finish_message))

    def close(self, out: list[Event]) -> None:
        """Append what is complete only now: signed parts, a call that never closed, the usage."""
        self._parts.close(out)
        if self._usage is not None:
            report = REPORT.decode(self._report)
            out.append(_told(self._usage, None if report is None else report.usage))

    def _has_room(self, data: bytes) -> bool:
        """Whether the objects and lists of an event that is kept may be kept."""
        self._room -= data.count(b"{") + data.count(b"[")
        return self._room >= 0


def _blocked(feedback: object) -> ProviderError | None:
    """Why the prompt was refused, if it was."""
    reason = word(feedback, "blockReason")
    if not reason or reason == "BLOCK_REASON_UNSPECIFIED":
        return None
    said = word(feedback, "blockReasonMessage") or "the provider blocked the prompt"
    return ProviderError(type="content_blocked", code=reason, message=said, retryable=False)


def _finish(raw: str, said: str | None) -> Finish:
    reason = _FINISHES.get(raw)
    error: ProviderError | None = None
    if reason == "content_filter":
        message = said or "the provider blocked the reply"
        error = ProviderError(type="content_blocked", code=raw, message=message, retryable=False)
    elif reason == "error":
        message = said or "the model made something that the provider could not use"
        error = ProviderError(type="api_error", code=raw, message=message, retryable=raw in _WORTH_ANOTHER_TRY)
    return Finish(reason, raw, error)


def _is_counted(usage: Counts) -> bool:
    return not (
        usage.prompt is None
        and usage.written is None
        and usage.total is None
        and usage.thoughts is None
        and usage.cached is None
        and usage.tool_use is None
    )


def _told(usage: Counts, raw: dict[str, Any] | None) -> Usage:
    """`input_tokens` has what tools put into the prompt, `output_tokens` the thoughts.

    A count that stands beside others and is left out is zero: https://protobuf.dev/programming-guides/json (defaults).
    """
    prompt, tool_use, written, thoughts, cached, total = counts(msgspec.structs.astuple(usage))
    counted = not (prompt is None and tool_use is None and written is None and thoughts is None)
    return Usage(
        input_tokens=(prompt or 0) + (tool_use or 0) if counted else None,
        output_tokens=(written or 0) + (thoughts or 0) if counted else None,
        cached_input_tokens=cached,
        reasoning_tokens=thoughts,
        total_tokens=total,
        raw=raw,
    )
