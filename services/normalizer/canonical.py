"""The canonical events of a stream as JSON objects: what other normalizers of provider streams give, and people read.

`start`, `text_delta`, `thinking_delta` with its signature, `toolcall_delta` with its raw piece and the arguments so far,
`server_toolcall`, then `done` with all content and the usage, or `error`. No guards: it is what the provider said.

The raw pieces of a call, joined, are its arguments. Where a provider took back what it had said, a `toolcall_delta` has
`"replaces": true`: its piece is the whole text, and the pieces before it count no more.
"""

from typing import Any, Literal

from msgspec.structs import asdict

from schemas.chunks import Dialect, DoneChunk, ErrorChunk, FunctionCall, FunctionCallChunk, ServerToolCall
from services.normalizer.assembly import Assembly
from services.normalizer.dialects import DIALECTS
from services.normalizer.endings import Ending
from services.normalizer.errors.families import family_of
from services.normalizer.event_stream import EventStream
from services.normalizer.events import Event, Start, TextDelta, ThinkingDelta, ToolCallDelta
from services.normalizer.partial_json import parse_partial_json
from services.normalizer.tool_calls import MAX_CALLS, made_id
from services.normalizer.unicode import PairJoiner, clean

CanonicalEvent = dict[str, Any]

_ALWAYS_BELOW = 1_024
_GROWTH = 1.25


class CanonicalStream:
    """Reads one stream. `index` counts the blocks of the reply: runs of text, runs of thinking, tool calls."""

    def __init__(self, dialect: Dialect, model: str, *, provider: str = "", content_type: str = "") -> None:
        """As for StreamNormalizer."""
        family = family_of(dialect, provider)
        self._provider = provider or dialect
        self._events = EventStream(DIALECTS[dialect](family), family, content_type=content_type)
        self._assembly = Assembly(model, self._events.stop)
        self._blocks: list[_Block] = []
        self._calls: dict[int, _Block] = {}

    def feed(self, data: bytes) -> list[CanonicalEvent]:
        """The events that these bytes complete."""
        return self._told(self._events.feed(data))

    def flush(self, ending: Ending) -> list[CanonicalEvent]:
        """The events that remain; the last is `done` or `error`, unless `feed` gave it."""
        return self._told(self._events.flush(ending))

    def _told(self, events: list[Event]) -> list[CanonicalEvent]:
        out: list[CanonicalEvent] = []
        for event in events:
            told = self._tell(event)
            if len(self._calls) > MAX_CALLS:
                break
            if told is not None:
                out.append(told)
        calls: list[FunctionCall] = []
        for chunk in self._assembly.take(events) if events else ():
            match chunk:
                case FunctionCallChunk():
                    calls.append(chunk.function_call)
                case DoneChunk():
                    usage = None if chunk.usage is None else asdict(chunk.usage)
                    reason, stopped = chunk.metadata.finish_reason, chunk.metadata.stopped
                    content = self._content(calls)
                    out.append(
                        {"type": "done", "stop_reason": reason, "stopped": stopped, "content": content, "usage": usage}
                    )
                case ErrorChunk():
                    out.append({"type": "error", "reason": chunk.error.model_dump()})
                case _:
                    continue
        return out

    def _tell(self, event: Event) -> CanonicalEvent | None:
        match event:
            case Start():
                return {"type": "start", "model": clean(event.model), "provider": self._provider}
            case TextDelta():
                block = self._run("text")
                block.pieces.append(event.text)
                return {"type": "text_delta", "index": block.index, "delta": block.pairs.push(event.text)}
            case ThinkingDelta():
                block = self._run("thinking")
                block.pieces.append(event.text)
                block.signature += event.signature
                signature = clean(event.signature) or None
                return {
                    "type": "thinking_delta",
                    "index": block.index,
                    "delta": block.pairs.push(event.text),
                    "signature": signature,
                }
            case ToolCallDelta():
                return self._tell_call(event)
            case ServerToolCall():
                return {"type": "server_toolcall", "id": event.id, "kind": event.type, "name": event.name}
            case _:
                return None

    def _tell_call(self, event: ToolCallDelta) -> CanonicalEvent:
        block = self._calls.get(event.slot)
        if block is None:
            block = self._calls[event.slot] = self._new("toolcall")
            block.call_id = clean(event.id) or made_id(len(self._calls) - 1)
        block.name = block.name or clean(event.name)
        block.grow(event)
        told: CanonicalEvent = {
            "type": "toolcall_delta",
            "index": block.index,
            "id": block.call_id,
            "name": block.name,
            "raw_json_delta": block.pairs.push(event.whole or event.arguments),
            "partial_args": block.preview,
        }
        if event.whole:
            told["replaces"] = True
        return told

    def _run(self, kind: Literal["text", "thinking"]) -> "_Block":
        last = self._blocks[-1] if self._blocks else None
        return last if last is not None and last.kind == kind else self._new(kind)

    def _new(self, kind: Literal["text", "thinking", "toolcall"]) -> "_Block":
        block = _Block(kind, len(self._blocks))
        self._blocks.append(block)
        return block

    def _content(self, calls: list[FunctionCall]) -> list[dict[str, Any]]:
        finished = iter(calls)
        content: list[dict[str, Any]] = []
        for block in self._blocks:
            text = clean("".join(block.pieces))
            if block.kind == "text":
                content.append({"type": "text", "text": text})
            elif block.kind == "thinking":
                content.append({"type": "thinking", "thinking": text, "signature": clean(block.signature) or None})
            elif (call := next(finished, None)) is not None:
                content.append({"type": "toolcall", "id": call.id, "name": call.name, "arguments": call.args})
        return content


class _Block:
    """A block that grows. `preview`: the arguments so far, read anew whenever their text has grown by a quarter.

    So all previews together cost as much as a few readings of the whole, however many deltas there are.
    """

    def __init__(self, kind: Literal["text", "thinking", "toolcall"], index: int) -> None:
        self.kind = kind
        self.index = index
        self.pieces: list[str] = []
        self.pairs = PairJoiner()
        self.signature = ""
        self.call_id = ""
        self.name = ""
        self.preview: dict[str, Any] = {}
        self._size = 0
        self._read_at = 0

    def grow(self, event: ToolCallDelta) -> None:
        """Take a piece of a call."""
        if event.given is not None:
            self.preview = event.given
        text = event.arguments
        if event.whole:
            text = event.whole
            self.pieces.clear()
            self.pairs = PairJoiner()
            self._size = self._read_at = 0
        if not text:
            return
        self.pieces.append(text)
        self._size += len(text)
        if self._size <= _ALWAYS_BELOW or self._size >= self._read_at * _GROWTH:
            self._read_at = self._size
            self.preview = parse_partial_json("".join(self.pieces))
