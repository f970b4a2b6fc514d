"""Where the items of a responses stream stand: by `output_index`, or by what an event says instead of one."""

_SHARED = -1


class Places:
    """The places of one stream. Servers leave the index out, or write 0 for all, so an item's id says more, if known.

    An id that is not known says nothing, since some servers make up a new one for every event.
    """

    def __init__(self) -> None:
        self.last = 0
        """The place of the item that opened last: events that say nothing better are of it."""
        self._of: dict[str, int] = {}
        self._opened: set[str] = set()

    def open(self, index: int | None, item_id: str) -> int:
        """The place of an item that begins. An id that several items have tells none of them."""
        place = self.last = self.last + 1 if index is None else index
        if item_id:
            self._opened.add(item_id)
            if self._of.setdefault(item_id, place) != place:
                self._of[item_id] = _SHARED
        return place

    def find(self, index: int | None, item_id: str) -> int:
        """The place that an event means."""
        place = self._of.get(item_id, _SHARED)
        if place != _SHARED:
            return place
        return self.last if index is None else index

    def opened(self, item_id: str) -> bool:
        """Whether one item began with this id, and so is no other, whatever its events look like."""
        return item_id in self._opened and self._of[item_id] != _SHARED

    def learn(self, item_id: str, place: int) -> None:
        """An item that never opened is at this place."""
        if item_id:
            self._of.setdefault(item_id, place)
