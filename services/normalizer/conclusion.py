"""What a reply tells only at its end: its calls, why it ended, what it cost, and what goes back to the provider."""

from typing import Any

from msgspec.structs import replace

from schemas.chunks import (
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FinishReason,
    ProcessedChunk,
    ProviderError,
    ServerToolCall,
    Usage,
)
from services.normalizer.errors import stream_error
from services.normalizer.events import (
    End,
    EndMark,
    Event,
    Failed,
    Finish,
    ReplayPart,
    Served,
    Start,
    ToolCallDelta,
)
from services.normalizer.tool_calls import MAX_CALLS, NO_CALLS, ToolCalls
from services.normalizer.unicode import clean, clean_json, doubtful, is_fit

_PLAIN: frozenset[FinishReason | None] = frozenset({None, "stop", "length"})


class Conclusion:
    """What has come so far of one reply, and is told when it ends."""

    def __init__(self, model: str) -> None:
        self.overflow: Failed | None = None
        """The end of a reply with more calls than one may have; nothing is taken behind it."""
        self.signatures: list[str] = []
        """Pieces of the signatures of thoughts, of parts and of calls, in order."""
        self._model = model
        self._response_id = ""
        self._provider = ""
        self._calls: ToolCalls | None = None
        self._replay: list[dict[str, Any]] = []
        self._server_calls: list[ServerToolCall] = []
        self._usage: Usage | None = None
        self._finish: Finish | None = None

    def take(self, event: Event) -> None:
        """Keep what this event says; text, thoughts and ends, which are told at once, say nothing here."""
        # Comparing types costs a third less than `isinstance`.
        if type(event) is ToolCallDelta:
            self._call(event)
        elif type(event) is ReplayPart:
            self._replay.append(event.part)
        elif type(event) is Usage:
            self._usage = event
        elif type(event) is Finish:
            self._finish = event
        elif type(event) is Start:
            self._start(event)
        elif type(event) is Served:
            self._provider = self._provider or clean(event.provider)
        elif type(event) is ServerToolCall:
            self._note(event)

    def chunks(self, end: End) -> list[ProcessedChunk]:
        """The calls, then the terminal chunk."""
        if isinstance(end, EndMark):
            return self._complete()
        if isinstance(end, Failed):
            # Calls are told, but none is certain to be whole.
            calls = self._calls.finished(complete=False).chunks if self._calls is not None else ()
            return [*calls, self._error_chunk(end.error, self._finish.reason if self._finish else None)]
        return [self._done_chunk(None, stopped=True)]

    def _complete(self) -> list[ProcessedChunk]:
        """The chunks at the end of a reply that the provider finished."""
        finish = self._finish
        if self._calls is None and (finish is None or finish.reason in _PLAIN):
            return [self._done_chunk(None if finish is None else finish.reason)]
        finished = NO_CALLS if self._calls is None else self._calls.finished(complete=True)
        reason = self._reason(has_calls=bool(finished.chunks))
        error = self._finish_error()
        if error is None and finished.unreadable:
            message = "the model wrote a tool call that cannot be read"
            error = stream_error("tool_arguments_invalid", message, retryable=reason != "length")
        if error is None:
            return [*finished.chunks, self._done_chunk(reason)]
        return [*finished.chunks, self._error_chunk(error, reason)]

    def _call(self, event: ToolCallDelta) -> None:
        if self._calls is None:
            self._calls = ToolCalls()
        if not self._calls.add(event):
            message = f"a reply of more than {MAX_CALLS} tool calls"
            self.overflow = Failed(stream_error("reply_too_large", message, retryable=False))
        elif event.signature:
            self.signatures.append(event.signature)

    def _start(self, event: Start) -> None:
        if event.model:
            self._model = event.model
        if not self._response_id:
            self._response_id = event.response_id

    def _note(self, event: ServerToolCall) -> None:
        self._server_calls.append(
            ServerToolCall(id=clean(event.id), type=clean(event.type), name=clean(event.name), args=_held(event.args))
        )

    def _finish_error(self) -> ProviderError | None:
        """A finish that is a failure: the provider blocked the reply, or gave it up."""
        if self._finish is None or self._finish.reason not in ("content_filter", "error"):
            return None
        if self._finish.error is not None:
            return self._finish.error
        raw = clean(self._finish.raw)[:100]
        if self._finish.reason == "error":
            return stream_error(raw, "the provider ended the reply with an error", retryable=False)
        return ProviderError(
            type="content_blocked", code=raw, message="the provider blocked the reply", retryable=False
        )

    def _reason(self, *, has_calls: bool) -> FinishReason | None:
        """Calls decide: providers end a reply with calls by `stop`, and one without by `tool_calls`."""
        reason = self._finish.reason if self._finish else None
        if has_calls and reason in (None, "stop"):
            return "tool_calls"
        if not has_calls and reason == "tool_calls":
            return "stop"
        return reason

    def _done_chunk(self, reason: FinishReason | None, *, stopped: bool = False) -> DoneChunk:
        return DoneChunk(
            metadata=self._metadata(reason, stopped=stopped),
            usage=self._usage_told(),
            serving_provider=self._provider or None,
        )

    def _error_chunk(self, error: ProviderError, reason: FinishReason | None) -> ErrorChunk:
        return ErrorChunk(
            error=error,
            metadata=self._metadata(reason, stopped=False),
            usage=self._usage_told(),
            serving_provider=self._provider or None,
        )

    def _metadata(self, reason: FinishReason | None, *, stopped: bool) -> DoneMetadata:
        return DoneMetadata(
            finish_reason=reason,
            finish_reason_raw=None if self._finish is None else clean(self._finish.raw),
            model=clean(self._model) or None,
            response_id=clean(self._response_id) or None,
            stopped=stopped,
            replay=self._replay_held() if self._replay else (),
            thought_signature=clean("".join(self.signatures)) if self.signatures else None,
            server_tool_calls=tuple(self._server_calls),
        )

    def _replay_held(self) -> tuple[dict[str, Any], ...]:
        """The parts to send back. One that JSON readers could not hold would be refused by the provider too."""
        odd = [one for part in self._replay for one in doubtful(part)]
        if not odd or is_fit(odd):
            return tuple(self._replay)
        return tuple([held for part in self._replay if (held := _held(part)) is not None])

    def _usage_told(self) -> Usage | None:
        """The latest report; without the provider's own, where JSON cannot hold it."""
        usage = self._usage
        if usage is None or is_fit(usage.raw):
            return usage
        raw = _held(usage.raw)
        return usage if raw is usage.raw else replace(usage, raw=raw)


def _held(value: Any) -> Any:
    """The value as JSON readers can hold it; None for one that they cannot."""
    try:
        return clean_json(value)
    except ValueError:
        return None
