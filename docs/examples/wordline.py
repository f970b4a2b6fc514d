"""A dialect for the normalizer: a wire language of one line an event, a word and a JSON value."""

from schemas.chunks import FinishReason, Usage
from services.normalizer.decode import UNREADABLE, count, is_object, loads, word
from services.normalizer.errors import event_error, stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import EndMark, Event, Failed, Finish, Start, TextDelta, ThinkingDelta, ToolCallDelta
from services.normalizer.sse_event import SseEvent

_FINISHES: dict[str, FinishReason] = {"done": "stop", "full": "length", "tools": "tool_calls"}


class Wordline:
    """Reads one stream. Words that it does not know say nothing, so that a newer provider can still be read."""

    def __init__(self, family: Family) -> None:
        self.finished = False
        self._family = family

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this line says."""
        name, _, rest = event.data.partition(b" ")
        if name == b"bye":
            out.append(EndMark())
            return
        try:
            value: object = loads(rest) if rest else None
        except UNREADABLE:
            line = event.data.decode("utf-8", "replace")
            out.append(Failed(stream_error("malformed_event", "a line holds no JSON", original=line)))
            return
        match name:
            case b"hello":
                out.append(Start(model=word(value, "model"), response_id=word(value, "id")))
            case b"think" if isinstance(value, str):
                out.append(ThinkingDelta(value))
            case b"say" if isinstance(value, str):
                out.append(TextDelta(value))
            case b"call" if is_object(value):
                slot = count(value.get("slot"))
                if slot is not None and slot >= 0:
                    piece = word(value, "arguments")
                    out.append(ToolCallDelta(slot, word(value, "id"), word(value, "name"), piece))
            case b"used" if is_object(value):
                out.append(Usage(input_tokens=count(value.get("in")), output_tokens=count(value.get("out")), raw=value))
            case b"end" if isinstance(value, str):
                self.finished = True
                out.append(Finish(_FINISHES.get(value), value))
            case b"oops":
                out.append(Failed(event_error(value, event.data, self._family)))
            case _:
                return

    def close(self, out: list[Event]) -> None:
        """Nothing is held back."""
