"""Canonical events become chunks: what a reply is made of, whichever provider it came from."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from schemas.chunks import (
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FinishReason,
    ProcessedChunk,
    ProviderError,
    ServerToolCall,
    TextChunk,
    ThoughtKind,
    ThoughtLogEntry,
    Usage,
)
from services.normalizer.errors import stream_error
from services.normalizer.events import (
    Cut,
    End,
    EndMark,
    Event,
    Failed,
    Finish,
    ReplayPart,
    Served,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from services.normalizer.tool_calls import ToolCalls
from services.normalizer.unicode import PairJoiner, clean, clean_json, doubtful, is_clean, is_fit

_TOLD_AT_ONCE = (ThinkingDelta, EndMark, Failed, Cut)
_ENDS = (EndMark, Failed, Cut)

_Channel = Literal["text"] | ThoughtKind
_THOUGHT_KINDS: tuple[ThoughtKind, ...] = ("raw", "summary")


class Assembly:
    """The state of one reply. Text and thoughts leave it at once; calls, usage and the finish wait for the end."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._response_id = ""
        self._provider = ""
        self._pairs: dict[_Channel, PairJoiner] = {}
        self._waits = False
        self._calls = ToolCalls()
        self._replay: list[dict[str, Any]] = []
        self._signatures: list[str] = []
        self._server_calls: list[ServerToolCall] = []
        self._usage: Usage | None = None
        self._finish: Finish | None = None

    def take(self, events: Sequence[Event]) -> list[ProcessedChunk]:
        """What these events add, as at most one chunk of text and thoughts, then the chunks of the end."""
        event = events[-1]
        if len(events) == 1:
            if isinstance(event, TextDelta):
                text = event.text if event.text.isascii() and not self._waits else self._joined("text", event.text)
                return [TextChunk(content=text)] if text else []
            if isinstance(event, ThinkingDelta) and not event.signature:
                return _chunk_of("", [(event.kind, self._joined(event.kind, event.text))])
            if not isinstance(event, _TOLD_AT_ONCE):
                self._take_other(event)
                return []
        if isinstance(event, _ENDS):
            return [*self._told(events[:-1]), *self._ended(event)]
        return self._told(events)

    def _told(self, events: Sequence[Event]) -> list[ProcessedChunk]:
        """Text and thoughts of these events, as one chunk, or nothing."""
        texts: list[str] = []
        thoughts: list[tuple[ThoughtKind, list[str]]] = []
        for event in events:
            if isinstance(event, TextDelta):
                texts.append(event.text)
            elif not isinstance(event, ThinkingDelta):
                self._take_other(event)
            else:
                if event.signature:
                    self._signatures.append(event.signature)
                if not event.text:
                    continue
                if thoughts and thoughts[-1][0] == event.kind:
                    thoughts[-1][1].append(event.text)
                else:
                    thoughts.append((event.kind, [event.text]))
        if not (texts or thoughts):
            return []
        text = self._joined("text", "".join(texts)) if texts else ""
        return _chunk_of(text, [(kind, self._joined(kind, "".join(pieces))) for kind, pieces in thoughts])

    def _joined(self, channel: _Channel, text: str) -> str:
        """The text of a channel that can be told now; a half of a pair at its end waits for the other half."""
        if not self._waits and is_clean(text):
            return text
        pairs = self._pairs.get(channel)
        if pairs is None:
            pairs = self._pairs[channel] = PairJoiner()
        text = pairs.push(text)
        self._waits = any(each.waits for each in self._pairs.values())
        return text

    def _ended(self, end: End) -> list[ProcessedChunk]:
        """The chunks of the end: halves that wait in vain, calls, and the terminal chunk."""
        halves = self._halves() if self._waits else []
        if isinstance(end, EndMark):
            return [*halves, *self._complete()]
        if isinstance(end, Failed):
            # Calls are told, but none is certain to be whole.
            calls = self._calls.finished(complete=False).chunks
            reason = self._finish.reason if self._finish else None
            return [*halves, *calls, self._error_chunk(end.error, reason)]
        return [*halves, self._done_chunk(None, stopped=True)]

    def _complete(self) -> list[ProcessedChunk]:
        """The chunks at the end of a reply that the provider finished."""
        finished = self._calls.finished(complete=True)
        reason = self._reason(has_calls=bool(finished.chunks))
        error = self._finish_error()
        if error is None and finished.unreadable:
            message = "the model wrote a tool call that cannot be read"
            error = stream_error("tool_arguments_invalid", message, retryable=reason != "length")
        if error is None:
            return [*finished.chunks, self._done_chunk(reason)]
        return [*finished.chunks, self._error_chunk(error, reason)]

    def _halves(self) -> list[ProcessedChunk]:
        """What stands for halves of pairs whose other half never came."""
        closed = {channel: pairs.close() for channel, pairs in self._pairs.items()}
        return _chunk_of(closed.get("text", ""), [(kind, closed.get(kind, "")) for kind in _THOUGHT_KINDS])

    def _take_other(self, event: Event) -> None:
        # Patterns of a match cost twice as much as these, and a stream of three events has five of them to tell apart.
        if isinstance(event, ToolCallDelta):
            self._call(event)
        elif isinstance(event, Start):
            self._model = clean(event.model) or self._model
            self._response_id = self._response_id or clean(event.response_id)
        elif isinstance(event, Finish):
            self._finish = event
        elif isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, ReplayPart):
            self._replay.append(event.part)
        elif isinstance(event, ServerToolCall):
            self._note(event)
        elif isinstance(event, Served):
            self._provider = self._provider or clean(event.provider)

    def _call(self, event: ToolCallDelta) -> None:
        self._calls.add(event)
        if event.signature:
            self._signatures.append(event.signature)

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
            metadata=self._metadata(reason),
            usage=self._usage_told(),
            serving_provider=self._provider or None,
        )

    def _metadata(self, reason: FinishReason | None, *, stopped: bool = False) -> DoneMetadata:
        return DoneMetadata(
            finish_reason=reason,
            finish_reason_raw=None if self._finish is None else clean(self._finish.raw),
            model=self._model or None,
            response_id=self._response_id or None,
            stopped=stopped,
            replay=self._replay_held(),
            thought_signature=clean("".join(self._signatures)) if self._signatures else None,
            server_tool_calls=tuple(self._server_calls),
        )

    def _replay_held(self) -> tuple[dict[str, Any], ...]:
        """The parts to send back. One that JSON readers could not hold would be refused by the provider too."""
        if not self._replay or is_fit([one for part in self._replay for one in doubtful(part)]):
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


def _chunk_of(text: str, thoughts: Iterable[tuple[ThoughtKind, str]]) -> list[ProcessedChunk]:
    """One chunk of text and thoughts; none where there is nothing to tell."""
    entries = tuple([ThoughtLogEntry(kind=kind, content=content) for kind, content in thoughts if content])
    return [TextChunk(content=text, thoughts=entries)] if text or entries else []
