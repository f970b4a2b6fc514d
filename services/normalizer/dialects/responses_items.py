"""The output items of a responses stream: what was streamed of each, and what is still to be said when it closes."""

from typing import Any, Literal

from schemas.chunks import ServerToolCall
from services.normalizer.decode import is_array, is_object, word
from services.normalizer.events import Event, ReplayPart, TextDelta, ThinkingDelta, ToolCallDelta

Channel = Literal["text", "raw", "summary"]

_ASIDE = frozenset({"mcp_approval_request"})
_DETAILS = ("action", "operation", "queries", "code", "arguments", "input")


class Items:
    """The items of one stream, by `output_index`; events without one are of the item that opened last."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Channel, int, int], list[str]] = {}
        self._latest: tuple[Channel, int | None, int | None, list[str]] | None = None
        self._slots: dict[int, int] = {}
        self._arguments: list[list[str]] = []
        self._call_ids: set[str] = set()
        self._ids: list[str] = []
        self._free: dict[int, list[str]] = {}
        self._last = 0
        self._said: set[Channel] = set()
        self._closed_reasoning = False
        self._aside: set[str] = set()

    def grow(self, channel: Channel, index: int | None, part: int | None, text: str) -> None:
        """Remember what was streamed of a text part."""
        latest = self._latest
        if latest is None or latest[1] != index or latest[2] != part or latest[0] != channel:
            place = self._place(channel, index, part)
            latest = self._latest = (channel, index, part, self._parts.setdefault(place, []))
            self._said.add(channel)
        latest[3].append(text)

    def complete(
        self, channel: Channel, index: int | None, part: int | None, text: str | None, out: list[Event]
    ) -> None:
        """A text part is whole: append what the deltas left out, if what they said is its beginning."""
        if not text:
            return
        said = "".join(self._parts.get(self._place(channel, index, part), ()))
        rest = text.removeprefix(said) if text.startswith(said) else ""
        if not rest:
            return
        self.grow(channel, index, part, rest)
        out.append(TextDelta(rest) if channel == "text" else ThinkingDelta(rest, channel))

    def open(self, index: int | None, item: object, out: list[Event]) -> None:
        """An item begins; its arguments, if it has some already, come again when it closes."""
        self._last = self._last + 1 if index is None else index
        self._latest = None
        kind = word(item, "type")
        if kind in ("function_call", "custom_tool_call"):
            self._open_call(self._last, item, out)

    def grow_call(self, index: int | None, text: str, out: list[Event]) -> None:
        """A piece of a call's arguments."""
        slot = self._slots.get(self._index(index))
        if slot is not None and text:
            self._arguments[slot].append(text)
            out.append(ToolCallDelta(slot, arguments=text))

    def complete_call(self, index: int | None, arguments: str | None, out: list[Event]) -> None:
        """A call's arguments are whole."""
        slot = self._slots.get(self._index(index))
        if slot is None or not arguments:
            return
        said = "".join(self._arguments[slot])
        if arguments.startswith(said):
            self.grow_call(index, arguments[len(said) :], out)

    def complete_free(self, index: int | None, text: str | None, out: list[Event]) -> None:
        """The input of a custom tool is whole: free text, told as the argument `input`."""
        slot = self._slots.get(self._index(index))
        if slot is not None and text is not None:
            self._free.pop(slot, None)
            out.append(ToolCallDelta(slot, given={"input": text}))

    def grow_free(self, index: int | None, text: str) -> None:
        """A piece of the input of a custom tool, which counts only if the whole never comes."""
        slot = self._slots.get(self._index(index))
        if slot is not None and text:
            self._free.setdefault(slot, []).append(text)

    def finish(self, out: list[Event]) -> None:
        """The response is complete, so the inputs of custom tools are what was streamed of them."""
        out.extend(ToolCallDelta(slot, given={"input": "".join(pieces)}) for slot, pieces in self._free.items())

    def close(self, index: int | None, item: object, out: list[Event]) -> None:
        """An item is whole."""
        if not is_object(item):
            return
        place = self._index(index)
        match word(item, "type"):
            case "message":
                for part, content in enumerate(_list(item, "content")):
                    text = word(content, "text") or word(content, "refusal")
                    self.complete("text", place, part, text, out)
            case "reasoning":
                self._close_reasoning(place, item, out)
            case "function_call":
                self._open_call(place, item, out)
                arguments = item.get("arguments")
                if is_object(arguments):
                    out.append(ToolCallDelta(self._slots[place], given=arguments))
                else:
                    self.complete_call(place, word(item, "arguments"), out)
            case "custom_tool_call":
                self._open_call(place, item, out)
                self.complete_free(place, word(item, "input"), out)
            case kind:
                self._put_aside(kind, item, out)

    def recover(self, output: list[Any], out: list[Event]) -> None:
        """Take from the final response what no event told: all text, all reasoning, or single calls.

        Its items do not always stand at the indexes that the events gave.
        """
        said, reasoned, aside = set(self._said), self._closed_reasoning, bool(self._aside)
        base = max((self._last, *self._slots, *(place[1] for place in self._parts)), default=0) + 1
        for offset, item in enumerate(output):
            kind = word(item, "type")
            if kind == "message" and "text" in said:
                continue
            if kind == "reasoning" and (reasoned or said & {"raw", "summary"}):
                continue
            if kind in ("function_call", "custom_tool_call") and _call_id(item) in self._call_ids:
                continue
            if aside and _is_aside(kind):
                continue
            self.close(base + offset, item, out)

    def _open_call(self, index: int, item: object, out: list[Event]) -> None:
        """A call begins, or ends; some servers give every call the same index."""
        call_id = _call_id(item)
        slot = self._slots.get(index)
        own = word(item, "call_id")  # item ids rotate, call ids do not
        if slot is None or (own and self._ids[slot] and own != self._ids[slot]):
            slot = self._slots[index] = len(self._arguments)
            self._arguments.append([])
            self._ids.append("")
        self._ids[slot] = self._ids[slot] or own
        self._call_ids.add(call_id)
        out.append(ToolCallDelta(slot, call_id, word(item, "name")))

    def _close_reasoning(self, index: int, item: dict[str, Any], out: list[Event]) -> None:
        for part, content in enumerate(_list(item, "summary")):
            self.complete("summary", index, part, word(content, "text"), out)
        for part, content in enumerate(_list(item, "content")):
            self.complete("raw", index, part, word(content, "text"), out)
        self._closed_reasoning = True
        out.append(ReplayPart(item))

    def _put_aside(self, kind: str, item: dict[str, Any], out: list[Event]) -> None:
        """A call that is not ours to run: of the provider's tools, or of a built-in one that we never offer."""
        if not _is_aside(kind):
            return
        item_id = word(item, "id") or word(item, "call_id")
        if item_id and item_id in self._aside:
            return
        self._aside.add(item_id)
        details = {name: item[name] for name in _DETAILS if item.get(name) is not None}
        args: Any = next(iter(details.values()), None) if len(details) == 1 and "queries" not in details else details
        name = word(item, "name") or kind.removesuffix("_call")
        out.append(ServerToolCall(id=item_id, type=kind, name=name, args=args or None))

    def _place(self, channel: Channel, index: int | None, part: int | None) -> tuple[Channel, int, int]:
        return channel, self._index(index), part or 0

    def _index(self, index: int | None) -> int:
        return self._last if index is None else index


def _is_aside(kind: str) -> bool:
    return kind not in ("function_call", "custom_tool_call") and (kind.endswith("_call") or kind in _ASIDE)


def _call_id(item: object) -> str:
    return word(item, "call_id") or word(item, "id")


def _list(item: dict[str, Any], key: str) -> list[Any]:
    found: Any = item.get(key)
    return found if is_array(found) else []
