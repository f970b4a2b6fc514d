"""What a guard is, and several of them in a row."""

from collections.abc import Sequence
from typing import Protocol

from services.normalizer.events import Cut, EndMark, Event, Failed

_ENDS = (EndMark, Failed, Cut)


class Guard(Protocol):
    """Reads one stream's events. Text may be held back, changed into thinking or a call; other events pass as they are."""

    def read(self, event: Event, out: list[Event]) -> None:
        """Append what this event becomes now."""
        ...

    def close(self, out: list[Event]) -> None:
        """Append what was held back, because nothing follows."""
        ...


class Guards:
    """Guards in a row: each reads what the one before it lets through."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = guards

    def read(self, events: list[Event]) -> list[Event]:
        """What these events become. A terminal event is the last; before it comes all that was held back."""
        if not events or not self._guards:
            return events
        end = events.pop() if isinstance(events[-1], _ENDS) else None
        for guard in self._guards:
            out: list[Event] = []
            for event in events:
                guard.read(event, out)
            if end is not None:
                guard.close(out)
            events = out
        if end is not None:
            events.append(end)
        return events
