"""The texts of a responses stream: what was told of each part, and what the events that close it still add."""

from typing import Literal

from services.normalizer.dialects.responses_places import Places
from services.normalizer.dialects.responses_wire import item_id_of
from services.normalizer.events import Event, TextDelta, ThinkingDelta

Channel = Literal["text", "raw", "summary"]
Closer = Literal["text", "part", "item"]
"""Which `done` event says a text once more. Each kind does so once, so a second one of a kind is of another text."""

_NONE = -1
"""No event's index, so that each event without one is looked at: their items may take turns."""


class _Part:
    """A part that grows."""

    def __init__(self, item_id: str) -> None:
        self.item_id = item_id
        self.pieces: list[str] = []
        self.closers: set[Closer] = set()


class Texts:
    """Visible text and reasoning, by the place of their item and by their part in it."""

    def __init__(self, places: Places) -> None:
        self.channels: set[Channel] = set()
        """The channels in which something was told."""
        self._places = places
        self._parts: dict[tuple[Channel, int, int], _Part] = {}
        self._last: dict[tuple[Channel, int], _Part] = {}
        self._latest: tuple[Channel, int | None, int | None, list[str]] | None = None
        self._visible: list[list[str]] = []

    def grow(self, channel: Channel, index: int | None, part: int | None, text: str, data: bytes) -> None:
        """Remember what was streamed of a part. `data` is the event, whose item id is read where the part changes."""
        latest = self._latest
        if latest is None or latest[1] != index or latest[2] != part or latest[0] != channel:
            pieces = self._growing(channel, index, part or 0, item_id_of(data)).pieces
            latest = self._latest = (channel, _NONE if index is None else index, part, pieces)
        latest[3].append(text)

    def pause(self) -> None:
        """Another item begins, so the next piece may be of another part."""
        self._latest = None

    def complete(
        self,
        channel: Channel,
        index: int | None,
        part: int | None,
        text: str | None,
        item_id: str,
        closer: Closer,
        out: list[Event],
    ) -> None:
        """A part is whole: append what the deltas left out, if what they said is its beginning."""
        if not text:
            return
        self._latest = None
        is_opened = self._places.opened(item_id)
        place = self._places.find(index, item_id)
        self._places.learn(item_id, place)
        told = self._parts.get((channel, place, part or 0))
        if not is_opened and (told is None or closer in told.closers):
            told = self._told_last(channel, part or 0, text, closer) or told
        if told is None:
            told = self._begin(channel, place, part or 0, item_id)
        told.closers.add(closer)
        rest = unsaid(told.pieces, text)
        if rest:
            told.pieces.append(rest)
            out.append(TextDelta(rest) if channel == "text" else ThinkingDelta(rest, channel))

    def told_of(self, final: str) -> int:
        """How many characters of the reply's final text were told: all, where it does not begin with what was told."""
        said = "".join(["".join(pieces) for pieces in self._visible])
        return len(said) if final.startswith(said) else len(final)

    def _growing(self, channel: Channel, index: int | None, part: int, item_id: str) -> _Part:
        """The part that a delta is of. Behind its end another one begins, of a server that gives all the same index."""
        place = self._places.find(index, item_id)
        told = self._parts.get((channel, place, part))
        if told is None or (told.closers and not (item_id and item_id == told.item_id)):
            self._places.learn(item_id, place)
            return self._begin(channel, place, part, item_id)
        self._last[channel, part] = told
        return told

    def _told_last(self, channel: Channel, part: int, text: str, closer: Closer) -> _Part | None:
        """The part that was told last, if it is the text's beginning."""
        last = self._last.get((channel, part))
        if last is None or closer in last.closers or unsaid(last.pieces, text) is None:
            return None
        return last

    def _begin(self, channel: Channel, place: int, part: int, item_id: str) -> _Part:
        told = self._parts[channel, place, part] = self._last[channel, part] = _Part(item_id)
        self.channels.add(channel)
        if channel == "text":
            self._visible.append(told.pieces)
        return told


def unsaid(pieces: list[str], whole: str) -> str | None:
    """What the pieces have not said of the whole; None where they are not its beginning.

    They are joined in place, and only when the whole is as long as what was joined before: so all questions together
    cost no more than what was read.
    """
    if not pieces:
        return whole
    if len(whole) < len(pieces[0]):
        return None
    pieces[:] = ["".join(pieces)]
    return whole[len(pieces[0]) :] if whole.startswith(pieces[0]) else None
