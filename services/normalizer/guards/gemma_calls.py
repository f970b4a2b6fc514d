"""Tool calls that a server left in the text in Gemma's own notation become calls.

What stands between the opening and the closing token is gathered over deltas. A call that the stream's end cut off is still
read, and what came of it is marked as truncated; text that is no call is released as it came.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from services.normalizer.events import Event, TextDelta, ToolCallDelta
from services.normalizer.guards.gemma_syntax import written_as_json
from services.normalizer.guards.pieces import MAX_CALL_CHARS, append_text, held_from


@dataclass(frozen=True, slots=True)
class _Notation:
    opening: str
    closing: str
    quote: str


_NOTATIONS = {
    one.opening: one
    for one in (
        _Notation("<|tool_call>", "<tool_call|>", '<|"|>'),
        _Notation("<start_function_call>", "<end_function_call>", "<escape>"),
    )
}
_OPENING = re.compile("|".join(map(re.escape, _NOTATIONS)))


class GemmaToolCalls:
    """Reads one stream. `slots` gives each call a slot that no other call of the stream has."""

    def __init__(self, slots: Iterator[int] | None = None) -> None:
        self._slots = count(-1, -1) if slots is None else slots
        self._held = ""
        self._notation: _Notation | None = None
        self._pieces: list[str] = []
        self._size = 0

    @property
    def is_idle(self) -> bool:
        """No call is open, and none has begun."""
        return self._notation is None and not self._held

    def read(self, event: Event, out: list[Event]) -> None:
        """Append the event; of a text, what is no call, and the calls that it completes."""
        if not isinstance(event, TextDelta):
            out.append(event)
            return
        text = self._held + event.text
        self._held = ""
        at = 0
        while at < len(text):
            notation = self._notation
            at = self._outside(text, at, out) if notation is None else self._inside(text, at, notation, out)

    def close(self, out: list[Event]) -> None:
        """Append the call that was cut off, or the text that was held back."""
        notation = self._notation
        if notation is None:
            append_text(self._held, out)
        else:
            # What is held began a closing token, so the call itself was in full.
            self._call(notation, self._held, out)
        self._held = ""

    def _outside(self, text: str, at: int, out: list[Event]) -> int:
        """Take text up to the next opening token; returns where to go on."""
        opening = _OPENING.search(text, at)
        if opening is None:
            end = held_from(text, at, len(text), _NOTATIONS)
            append_text(text[at:end], out)
            self._held = text[end:]
            return len(text)
        self._notation = _NOTATIONS[opening[0]]
        append_text(text[at : opening.start()], out)
        return opening.end()

    def _inside(self, text: str, at: int, notation: _Notation, out: list[Event]) -> int:
        """Take text up to the closing token, or as much as a call may have; returns where to go on."""
        limit = at + MAX_CALL_CHARS - self._size
        found = text.find(notation.closing, at, limit)
        if found >= 0:
            self._pieces.append(text[at:found])
            self._call(notation, notation.closing, out)
            return found + len(notation.closing)
        if limit <= len(text):
            self._release(notation, text[at:limit], out)
            return limit
        end = held_from(text, at, len(text), (notation.closing,))
        self._pieces.append(text[at:end])
        self._size += end - at
        self._held = text[end:]
        return len(text)

    def _call(self, notation: _Notation, ending: str, out: list[Event]) -> None:
        """Append the call that the pieces are, or the text as it came, with what ended it."""
        call = written_as_json("".join(self._pieces), notation.quote)
        if call is None:
            self._release(notation, ending, out)
            return
        name, arguments = call
        out.append(ToolCallDelta(next(self._slots), name=name, arguments=arguments))
        self._reset()

    def _release(self, notation: _Notation, ending: str, out: list[Event]) -> None:
        append_text(notation.opening + "".join(self._pieces) + ending, out)
        self._reset()

    def _reset(self) -> None:
        self._notation = None
        self._pieces.clear()
        self._size = 0
