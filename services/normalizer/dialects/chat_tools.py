"""Tool calls of chat streams: which call a piece belongs to.

Pieces should carry `index`; some providers leave it out, reuse one index for several calls, send the rest of a call at
another index (https://github.com/agno-agi/agno/pull/8880), repeat the name, or send a new id with every piece. A call
gets a slot when it first appears, and keeps it. What is named anew in a slot whose call is whole may be another call.
"""

from typing import Any

from services.normalizer.decode import is_object, word, written
from services.normalizer.dialects.chat_calls import CallSoFar
from services.normalizer.dialects.chat_wire import FunctionPart, ToolPart
from services.normalizer.events import Event, ToolCallDelta


class ToolSlots:
    """Finds the slots of one stream's calls."""

    def __init__(self) -> None:
        self._calls: list[CallSoFar] = []
        self._by_index: dict[int, int] = {}
        self._by_id: dict[str, int] = {}
        self._by_position: dict[int, int] = {}
        self._legacy: int | None = None

    def read(self, parts: list[ToolPart], out: list[Event]) -> None:
        """Append a delta for each piece."""
        for position, part in enumerate(parts):
            call_id = part.id or ""
            name = (part.function.name if part.function else None) or ""
            arguments = part.function.arguments if part.function else None
            slot = self._slot(part.index, position, call_id, name)
            if name and self._calls[slot].ends_before(call_id, name, arguments):
                slot = self._open_instead(part.index, position, call_id)
            out.append(self._delta(slot, call_id, name, arguments, _signature(part)))

    def read_legacy(self, part: FunctionPart, out: list[Event]) -> None:
        """Append a delta for `function_call`, the single call of the time before tools."""
        if self._legacy is None:
            self._legacy = self._open()
        out.append(self._delta(self._legacy, "", part.name or "", part.arguments))

    def _slot(self, index: int | None, position: int, call_id: str, name: str) -> int:
        if index is not None:
            slot = self._by_index.get(index)
            if slot is None:
                slot = self._by_index[index] = self._slot_of_new_index(call_id, name)
            elif call_id and self._calls[slot].id not in ("", call_id):
                known = self._by_id.get(call_id)
                if known is not None and (not name or name == self._calls[known].name):
                    slot = known
                elif name:
                    slot = self._by_index[index] = self._open()
        elif call_id and call_id in self._by_id:
            slot = self._by_id[call_id]
        else:
            slot = self._by_position.get(position)
            if slot is None or self._is_another(slot, call_id, name):
                slot = self._open()
        self._by_position[position] = slot
        if call_id:
            self._by_id.setdefault(call_id, slot)
        return slot

    def _slot_of_new_index(self, call_id: str, name: str) -> int:
        """A call begins by its id or its name; without both, or with a known id alone, a call goes on at a wrong index."""
        if name or (call_id and call_id not in self._by_id) or not self._calls:
            return self._open()
        return self._by_id[call_id] if call_id else len(self._calls) - 1

    def _is_another(self, slot: int, call_id: str, name: str) -> bool:
        """Another name or a new id begins a new call; an id without a name is one that is made up for every piece."""
        call = self._calls[slot]
        return bool(name) and (call.name not in ("", name) or bool(call_id and call.id not in ("", call_id)))

    def _open(self) -> int:
        self._calls.append(CallSoFar())
        return len(self._calls) - 1

    def _open_instead(self, index: int | None, position: int, call_id: str) -> int:
        """A slot for what begins where another call stood; the pieces that follow are its own, even if both have one id."""
        slot = self._by_position[position] = self._open()
        if index is not None:
            self._by_index[index] = slot
        if call_id:
            self._by_id[call_id] = slot
        return slot

    def _delta(self, slot: int, call_id: str, name: str, arguments: Any, signature: str = "") -> ToolCallDelta:
        call = self._calls[slot]
        if call_id and not call.id:
            call.id = call_id
        if name and not call.name:
            call.name = name
        if arguments is None:
            return ToolCallDelta(slot, call_id, name, signature=signature)
        if is_object(arguments):
            call.give(arguments)
            return ToolCallDelta(slot, call_id, name, given=arguments, signature=signature)
        text = arguments if isinstance(arguments, str) else written(arguments).decode() or "["
        if text:
            call.grow(text)
        return ToolCallDelta(slot, call_id, name, text, signature=signature)


def _signature(part: ToolPart) -> str:
    if part.extra_content is None:
        return part.thought_signature or ""
    google = part.extra_content.get("google") if is_object(part.extra_content) else None
    return part.thought_signature or word(google, "thought_signature")
