"""Canonical events become chunks: what a reply is made of, whichever provider it came from."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from schemas.chunks import (
    DoneChunk,
    ErrorChunk,
    FinishReason,
    ProcessedChunk,
    ProviderError,
    ServerToolCall,
    TextChunk,
    ThoughtKind,
    ThoughtLogEntry,
)
from services.normalizer.errors import stream_error
from services.normalizer.events import (
    Cut,
    EndMark,
    Event,
    Failed,
    Finish,
    ReplayPart,
    Served,
    ServerToolUse,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from services.normalizer.tool_calls import ToolCalls
from services.normalizer.unicode import PairJoiner, clean, clean_json

_text_chunk = TextChunk.__pydantic_validator__.validate_python
_thought = ThoughtLogEntry.__pydantic_validator__.validate_python
"""These make the chunks of deltas, of which a stream has thousands; a third cheaper than the constructors."""

_done_chunk = DoneChunk.__pydantic_validator__.validate_python
_error_chunk = ErrorChunk.__pydantic_validator__.validate_python
"""These take the usage and the metadata as dicts, so that one call makes all: 3 us, and 8 with a constructor for each."""

_TOLD_AT_ONCE = (ThinkingDelta, EndMark, Failed, Cut)


class Assembly:
    """The state of one reply. Text and thoughts leave it at once; calls, usage and the finish wait for the end."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._response_id = ""
        self._provider = ""
        self._text: list[str] = []
        self._thoughts: list[tuple[ThoughtKind, list[str]]] = []
        self._text_pairs = PairJoiner()
        self._thought_pairs: dict[ThoughtKind, PairJoiner] = {"raw": PairJoiner(), "summary": PairJoiner()}
        self._calls = ToolCalls()
        self._replay: list[dict[str, Any]] = []
        self._signatures: list[str] = []
        self._server_calls: list[ServerToolCall] = []
        self._usage: UsageReport | None = None
        self._finish: Finish | None = None

    def take(self, events: Sequence[Event]) -> list[ProcessedChunk]:
        """What these events add, as at most one chunk of text and thoughts, then the chunks of the end."""
        if len(events) == 1:
            event = events[0]
            if isinstance(event, TextDelta):
                text = self._text_pairs.push(event.text)
                return [_text_chunk({"content": text})] if text else []
            if isinstance(event, ThinkingDelta) and not event.signature:
                thought = self._thought_pairs[event.kind].push(event.text)
                entry = _thought({"kind": event.kind, "content": thought})
                return [_text_chunk({"content": "", "thoughts": (entry,)})] if thought else []
            if not isinstance(event, _TOLD_AT_ONCE):
                self._take_other(event)
                return []
        for event in events:
            if isinstance(event, TextDelta):
                self._text.append(event.text)
            elif isinstance(event, ThinkingDelta):
                self._think(event)
            elif isinstance(event, EndMark):
                return self._complete()
            elif isinstance(event, Failed):
                return self._failed(event.error)
            elif isinstance(event, Cut):
                return self._stopped()
            else:
                self._take_other(event)
        return self._drain()

    def _drain(self) -> list[ProcessedChunk]:
        """Text and thoughts that came since the last call, as one chunk, or nothing."""
        if not self._thoughts:
            text = self._text_pairs.push("".join(self._text)) if self._text else ""
            self._text.clear()
            return [_text_chunk({"content": text})] if text else []
        text = self._text_pairs.push("".join(self._text))
        thoughts: list[tuple[ThoughtKind, str]] = [
            (kind, self._thought_pairs[kind].push("".join(pieces))) for kind, pieces in self._thoughts
        ]
        self._text.clear()
        self._thoughts.clear()
        return self._text_chunk(text, thoughts)

    def _complete(self) -> list[ProcessedChunk]:
        """The chunks at the end of a reply that the provider finished."""
        finished = self._calls.finished(complete=True)
        chunks: list[ProcessedChunk] = [*self._leftover(), *finished.chunks]
        reason = self._reason(has_calls=bool(finished.chunks))
        error = self._finish_error()
        if error is None and finished.unreadable:
            message = "the model wrote a tool call that cannot be read"
            error = stream_error("tool_arguments_invalid", message, retryable=reason != "length")
        if error is not None:
            chunks.append(_error_chunk({"error": error, **self._end(reason)}))
        else:
            chunks.append(_done_chunk(self._end(reason)))
        return chunks

    def _failed(self, error: ProviderError) -> list[ProcessedChunk]:
        """The chunks at the end of a stream that broke; calls are told, but none is certain to be whole."""
        calls = self._calls.finished(complete=False).chunks
        end = self._end(self._finish.reason if self._finish else None)
        return [*self._leftover(), *calls, _error_chunk({"error": error, **end})]

    def _stopped(self) -> list[ProcessedChunk]:
        """The chunks at the end of a stream that was closed on our side: no calls, since none was finished."""
        return [*self._leftover(), _done_chunk(self._end(None, stopped=True))]

    def _take_other(
        self, event: ToolCallDelta | ServerToolUse | Start | Served | UsageReport | Finish | ReplayPart
    ) -> None:
        # Patterns of a match cost twice as much as these, and a stream of three events has five of them to tell apart.
        if isinstance(event, ToolCallDelta):
            self._call(event)
        elif isinstance(event, Start):
            self._model = clean(event.model) or self._model
            self._response_id = self._response_id or clean(event.response_id)
        elif isinstance(event, Finish):
            self._finish = event
        elif isinstance(event, UsageReport):
            self._usage = event
        elif isinstance(event, ReplayPart):
            self._keep(event.part)
        elif isinstance(event, ServerToolUse):
            self._note(event)
        else:
            self._provider = self._provider or clean(event.provider)

    def _think(self, event: ThinkingDelta) -> None:
        if event.signature:
            self._signatures.append(event.signature)
        if not event.text:
            return
        if self._thoughts and self._thoughts[-1][0] == event.kind:
            self._thoughts[-1][1].append(event.text)
        else:
            self._thoughts.append((event.kind, [event.text]))

    def _call(self, event: ToolCallDelta) -> None:
        self._calls.add(event)
        if event.signature:
            self._signatures.append(event.signature)

    def _note(self, event: ServerToolUse) -> None:
        try:
            args = clean_json(event.args)
        except ValueError:
            args = None
        self._server_calls.append(
            ServerToolCall(id=clean(event.id), type=clean(event.type), name=clean(event.name), args=args)
        )

    def _keep(self, part: dict[str, Any]) -> None:
        """A part that JSON readers could not hold would be refused by the provider too."""
        try:
            self._replay.append(clean_json(part))
        except ValueError:
            return

    def _text_chunk(self, text: str, thoughts: Sequence[tuple[ThoughtKind, str]]) -> list[ProcessedChunk]:
        entries = tuple([_thought({"kind": kind, "content": content}) for kind, content in thoughts if content])
        return [_text_chunk({"content": text, "thoughts": entries})] if text or entries else []

    def _leftover(self) -> list[ProcessedChunk]:
        chunks = self._drain()
        of_thoughts = self._thought_pairs
        if not (self._text_pairs.waits or of_thoughts["raw"].waits or of_thoughts["summary"].waits):
            return chunks
        thoughts: list[tuple[ThoughtKind, str]] = [(kind, pairs.close()) for kind, pairs in of_thoughts.items()]
        return chunks + self._text_chunk(self._text_pairs.close(), thoughts)

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

    def _end(self, reason: FinishReason | None, *, stopped: bool = False) -> dict[str, Any]:
        """What a terminal chunk says of the whole stream, without the fields that keep their defaults."""
        metadata: dict[str, Any] = {}
        if reason is not None:
            metadata["finish_reason"] = reason
        if self._finish is not None:
            metadata["finish_reason_raw"] = clean(self._finish.raw)
        if self._model:
            metadata["model"] = self._model
        if self._response_id:
            metadata["response_id"] = self._response_id
        if stopped:
            metadata["stopped"] = True
        if self._replay:
            metadata["replay"] = tuple(self._replay)
        if self._signatures:
            metadata["thought_signature"] = clean("".join(self._signatures))
        if self._server_calls:
            metadata["server_tool_calls"] = tuple(self._server_calls)
        end: dict[str, Any] = {"metadata": metadata}
        if self._usage is not None:
            end["usage"] = _usage(self._usage)
        if self._provider:
            end["serving_provider"] = self._provider
        return end


def _usage(report: UsageReport) -> dict[str, Any]:
    """The report as schemas.chunks.Usage has it, field by field; without the provider's own, where JSON cannot hold it."""
    usage = asdict(report)
    try:
        usage["raw"] = clean_json(report.raw)
    except ValueError:
        usage["raw"] = None
    return usage
