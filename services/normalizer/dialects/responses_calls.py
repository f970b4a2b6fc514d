"""The calls of a responses stream that are ours to run: their pieces, and the whole that later events say once more."""

from typing import Any

from services.normalizer.argument_recovery import parsed_arguments
from services.normalizer.decode import is_object, word
from services.normalizer.dialects.responses_places import Places
from services.normalizer.dialects.responses_texts import unsaid
from services.normalizer.dialects.responses_wire import item_id_of
from services.normalizer.events import Event, ToolCallDelta

CALLS = frozenset({"function_call", "custom_tool_call"})
"""The types of items that are calls; a custom tool takes free text, which is told as the argument `input`."""


class _Call:
    """A call that grows. `call_id` is the one that counts, `id` what was told, which may be that of its item.

    `typed` is what was streamed of free text, `input` the whole of it. `settled`: its arguments or its input came whole;
    `closed`: its item did.
    """

    def __init__(self, slot: int, place: int) -> None:
        self.slot = slot
        self.place = place
        self.call_id = ""
        self.item_id = ""
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.typed: list[str] = []
        self.input: str | None = None
        self.settled = False
        self.closed = False

    def stands_at(self, place: int, item: dict[str, Any]) -> bool:
        """Whether an item with this call's id may be this one: not where both its place and its own id are others."""
        return place == self.place or not self.item_id or word(item, "id") in ("", self.item_id)


class Calls:
    """The calls of one stream. Ids of calls tell more than places, since some servers give every call the same."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._growing: dict[int | None, _Call] = {}
        self._known: dict[str, _Call] = {}
        self._spent: set[str] = set()

    def open(self, place: int, item: object, out: list[Event]) -> None:
        """A call begins; its arguments, if it has some already, come again when it closes.

        Another call with the id of an earlier one is a call: some servers make ids of the names of tools.
        """
        call = self._at.get(place)
        own = word(item, "call_id")
        if call is None or (own and call.call_id and own != call.call_id):
            call = self._begin(place)
        self._name(call, item, out)

    def grow(self, index: int | None, text: str, data: bytes, out: list[Event]) -> None:
        """A piece of a call's arguments. `data` is the event, whose item id is read where the index says nothing."""
        call = self._growing.get(index)
        if call is None:
            call = self._growing.get(self._places.find(index, item_id_of(data)))
        if call is not None and text:
            call.pieces.append(text)
            out.append(ToolCallDelta(call.slot, arguments=text))

    def grow_input(self, index: int | None, text: str, data: bytes) -> None:
        """A piece of the input of a custom tool, which counts only if the whole never comes."""
        call = self._growing.get(index)
        if call is None:
            call = self._growing.get(self._places.find(index, item_id_of(data)))
        if call is not None and text:
            call.typed.append(text)

    def complete(self, index: int | None, item_id: str, arguments: str | None, out: list[Event]) -> None:
        """A call's arguments are whole. Where it had them already, these are of another call, with a wrong index."""
        call = self._at.get(self._places.find(index, item_id))
        if call is not None and not call.settled:
            self._take_arguments(call, arguments or "", out)

    def complete_input(self, index: int | None, item_id: str, text: str | None, out: list[Event]) -> None:
        """The input of a custom tool is whole."""
        call = self._at.get(self._places.find(index, item_id))
        if call is not None and text is not None and not call.settled:
            self._take_input(call, text, out)

    def close(self, place: int, item: dict[str, Any], out: list[Event]) -> None:
        """A call is whole."""
        call = self._meant(place, item)
        self._name(call, item, out)
        call.closed = True
        self._take(call, item, out)

    def recover(self, place: int, item: dict[str, Any], out: list[Event], *, complete: bool) -> None:
        """A call of the final response, at a place that is free: append what no event told, of each id once.

        Of a response that is not `complete`, what stands of a call may be less than was streamed.
        """
        call_id = _id_of(item)
        if call_id in self._spent:
            return
        self._spent.add(call_id)
        call = self._known.get(call_id)
        if call is None:
            self.close(place, item, out)
        elif complete and (not call.name or word(item, "name") in ("", call.name)):
            self._name(call, item, out)
            self._take(call, item, out)

    def finish(self, out: list[Event]) -> None:
        """The response is complete, so the inputs of custom tools are what was streamed of them."""
        out.extend(
            ToolCallDelta(call.slot, given={"input": "".join(call.typed)})
            for call in self._calls
            if call.typed and not call.input
        )

    def _begin(self, place: int) -> _Call:
        call = self._at[place] = self._growing[place] = _Call(len(self._calls), place)
        self._calls.append(call)
        return call

    def _meant(self, place: int, item: dict[str, Any]) -> _Call:
        """The call that ends: with its id, at its place or at another, else the one at its place that has no id."""
        at = self._at.get(place)
        own = word(item, "call_id")
        if at is not None and (not own or own == at.call_id):
            return at
        known = self._known.get(own) if own and own not in self._spent else None
        if known is not None and (not known.closed or (known.stands_at(place, item) and _is_told(known, item))):
            return known
        return at if at is not None and not at.call_id else self._begin(place)

    def _name(self, call: _Call, item: object, out: list[Event]) -> None:
        call_id, name = _id_of(item), word(item, "name")
        if not (call.id and call.name):
            out.append(ToolCallDelta(call.slot, call_id, name))
        call.call_id = call.call_id or word(item, "call_id")  # ids of items rotate, those of calls do not
        call.item_id = call.item_id or word(item, "id")
        call.id = call.id or call_id
        call.name = call.name or name
        if self._known.setdefault(call_id, call) is not call:
            self._spent.add(call_id)

    def _take(self, call: _Call, item: dict[str, Any], out: list[Event]) -> None:
        arguments = item.get("arguments")
        if word(item, "type") == "custom_tool_call":
            self._take_input(call, word(item, "input"), out)
        elif is_object(arguments):
            out.append(ToolCallDelta(call.slot, given=arguments))
        else:
            self._take_arguments(call, word(item, "arguments"), out)

    def _take_arguments(self, call: _Call, whole: str, out: list[Event]) -> None:
        """Deltas may be lost, or be a cipher: then the whole is what counts. It is never worse than what was streamed."""
        if not whole or whole.isspace() or call.settled:
            return
        rest = unsaid(call.pieces, whole)
        if rest is None:
            if not parsed_arguments(whole):
                return
            if parsed_arguments("".join(call.pieces)) is None:
                call.pieces[:] = [whole]
                out.append(ToolCallDelta(call.slot, whole=whole))
        elif rest:
            call.pieces.append(rest)
            out.append(ToolCallDelta(call.slot, arguments=rest))
        if whole.rstrip().endswith("}"):
            self._settle(call)

    def _take_input(self, call: _Call, text: str, out: list[Event]) -> None:
        if text == call.input or not (text or (call.input is None and not call.typed)):
            return
        call.input = text
        out.append(ToolCallDelta(call.slot, given={"input": text}))
        if text:
            self._settle(call)

    def _settle(self, call: _Call) -> None:
        """More pieces at the place of a call that is whole are of another call, whose `done` will say them."""
        call.settled = True
        if self._growing.get(call.place) is call:
            del self._growing[call.place]


def _is_told(call: _Call, item: dict[str, Any]) -> bool:
    """The item says nothing that this call has not said."""
    if word(item, "name") != call.name:
        return False
    arguments = word(item, "arguments")
    return word(item, "input") == call.input or (arguments != "" and unsaid(call.pieces, arguments) == "")


def _id_of(item: object) -> str:
    return word(item, "call_id") or word(item, "id")
