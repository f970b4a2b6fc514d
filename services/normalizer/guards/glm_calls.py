"""Tool calls that GLM wrote in its own notation become calls, where the provider hands on the text and nothing else.

Only a known tool's name behind the opening token starts one. What turns out to be no call is released as it came, and
looked at again from where it went wrong. A call that the stream's end cut off is told as truncated.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from schemas.prompts import KnownTool
from services.normalizer.events import Event, TextDelta, ToolCallDelta
from services.normalizer.guards.glm_syntax import OPENING, GlmCall, KnownNames
from services.normalizer.guards.pieces import MAX_CALL_CHARS, append_text, held_from


class GlmToolCalls:
    """Reads one stream. `slots` gives each call a slot that no other call of the stream has."""

    def __init__(self, tools: Sequence[KnownTool], slots: Iterator[int] | None = None) -> None:
        self._names = KnownNames(tools)
        self._slots = count(-1, -1) if slots is None else slots
        self._held = ""
        self._call: GlmCall | None = None
        self._pieces: list[str] = []
        self._size = 0

    @property
    def is_idle(self) -> bool:
        """No call is open, and none has begun."""
        return self._call is None and not self._held

    def read(self, event: Event, out: list[Event]) -> None:
        """Append the event; of a text, what is no call, and the calls that it completes."""
        if not isinstance(event, TextDelta) or (self.is_idle and event.text and "<" not in event.text):
            out.append(event)
            return
        text = self._held + event.text
        self._held = ""
        at = 0
        while at < len(text):
            call = self._call
            at = self._outside(text, at, out) if call is None else self._inside(call, text, at, out)

    def close(self, out: list[Event]) -> None:
        """Append the call that was cut off, or the text that was held back."""
        call = self._call
        if call is None:
            append_text(self._held, out)
        elif call.name:
            self._told(call, out, whole=call.may_end(self._held))
        else:
            self._release(self._held, out)
        self._held = ""

    def _outside(self, text: str, at: int, out: list[Event]) -> int:
        """Take text up to the next opening token; returns where to go on."""
        found = text.find(OPENING, at)
        if found < 0:
            end = held_from(text, at, len(text), (OPENING,))
            append_text(text[at:end], out)
            self._held = text[end:]
            return len(text)
        append_text(text[at:found], out)
        self._call = GlmCall(self._names)
        return found + len(OPENING)

    def _inside(self, call: GlmCall, text: str, at: int, out: list[Event]) -> int:
        """Take as much as is the call's, up to what a call may have; returns where to go on."""
        limit = at + MAX_CALL_CHARS - self._size
        behind = call.feed(text, at, min(limit, len(text)))
        self._pieces.append(text[at:behind])
        self._size += behind - at
        if call.whole:
            self._told(call, out, whole=True)
            return behind
        if call.refused:
            self._release("", out)
            return behind
        if limit <= len(text):
            self._release(text[behind:limit], out)
            return limit
        self._held = text[behind:]
        return len(text)

    def _told(self, call: GlmCall, out: list[Event], *, whole: bool) -> None:
        arguments = call.arguments("".join(self._pieces), whole=whole)
        out.append(ToolCallDelta(next(self._slots), name=call.name, arguments=arguments))
        self._reset()

    def _release(self, rest: str, out: list[Event]) -> None:
        append_text(OPENING + "".join(self._pieces) + rest, out)
        self._reset()

    def _reset(self) -> None:
        self._call = None
        self._pieces.clear()
        self._size = 0
