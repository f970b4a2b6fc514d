"""The output items of a responses stream: what each kind says when it opens and closes, and in the final response."""

from typing import Any

from schemas.chunks import ServerToolCall
from services.normalizer.decode import is_array, is_object, word
from services.normalizer.dialects.responses_calls import CALLS, Calls
from services.normalizer.dialects.responses_places import Places
from services.normalizer.dialects.responses_texts import Texts
from services.normalizer.events import Event, ReplayPart, TextDelta

_ASIDE = frozenset({"mcp_approval_request"})
_DETAILS = ("action", "operation", "queries", "code", "arguments", "input")


class Items:
    """The items of one stream."""

    def __init__(self) -> None:
        self._places = Places()
        self.texts = Texts(self._places)
        self.calls = Calls(self._places)
        self._closed_reasoning = False
        self._aside: set[str] = set()

    def open(self, index: int | None, item: object, out: list[Event]) -> None:
        """An item begins."""
        place = self._places.open(index, word(item, "id"))
        self.texts.pause()
        if word(item, "type") in CALLS:
            self.calls.open(place, item, out)

    def close(self, index: int | None, item: object, out: list[Event]) -> None:
        """An item is whole."""
        if not is_object(item):
            return
        match word(item, "type"):
            case "message":
                for part, content in enumerate(_list(item, "content")):
                    self.texts.complete("text", index, part, _text_of(content), word(item, "id"), "item", out)
            case "reasoning":
                self._close_reasoning(index, item, out)
            case "function_call" | "custom_tool_call":
                self.calls.close(self._places.find(index, word(item, "id")), item, out)
            case kind:
                self._put_aside(kind, item, out)

    def recover(self, output: list[Any], out: list[Event], *, complete: bool) -> None:
        """Take from the final response what no event told: the rest of the text, all reasoning, and calls.

        Its items do not always stand at the indexes that the events gave, so each has a place of its own: no event's
        index is negative.
        """
        reasoned, aside = self._closed_reasoning or bool(self.texts.channels & {"raw", "summary"}), bool(self._aside)
        messages = _messages_of(output)
        told = self.texts.told_of("".join(messages))
        for offset, item in enumerate(output):
            kind = word(item, "type")
            if kind == "message":
                text = messages[offset]
                if rest := text[told:]:
                    out.append(TextDelta(rest))
                told = max(0, told - len(text))
            elif kind in CALLS:
                self.calls.recover(-1 - offset, item, out, complete=complete)
            elif not (reasoned if kind == "reasoning" else aside):
                self.close(-1 - offset, item, out)

    def _close_reasoning(self, index: int | None, item: dict[str, Any], out: list[Event]) -> None:
        item_id = word(item, "id")
        for part, content in enumerate(_list(item, "summary")):
            self.texts.complete("summary", index, part, word(content, "text"), item_id, "item", out)
        for part, content in enumerate(_list(item, "content")):
            self.texts.complete("raw", index, part, word(content, "text"), item_id, "item", out)
        self._closed_reasoning = True
        out.append(ReplayPart(item))

    def _put_aside(self, kind: str, item: dict[str, Any], out: list[Event]) -> None:
        """A call that is not ours to run: of the provider's tools, or of a built-in one that we never offer."""
        if not (kind.endswith("_call") or kind in _ASIDE):
            return
        item_id = word(item, "id") or word(item, "call_id")
        if item_id and item_id in self._aside:
            return
        self._aside.add(item_id)
        details = {name: item[name] for name in _DETAILS if item.get(name) is not None}
        args: Any = next(iter(details.values()), None) if len(details) == 1 and "queries" not in details else details
        name = word(item, "name") or kind.removesuffix("_call")
        out.append(ServerToolCall(id=item_id, type=kind, name=name, args=args or None))


def _messages_of(output: list[Any]) -> list[str]:
    """The text of each item; nothing for one that is no message, or that stands there once more, with its id."""
    texts: list[str] = []
    seen: set[tuple[str, str]] = set()
    for item in output:
        text = ""
        if is_object(item) and word(item, "type") == "message":
            text = "".join([_text_of(content) for content in _list(item, "content")])
        known = (word(item, "id"), text)
        texts.append("" if known[0] and known in seen else text)
        seen.add(known)
    return texts


def _text_of(content: object) -> str:
    return word(content, "text") or word(content, "refusal")


def _list(item: dict[str, Any], key: str) -> list[Any]:
    found: Any = item.get(key)
    return found if is_array(found) else []
