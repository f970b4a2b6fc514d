"""What a guard is, and several of them in a row."""

from collections.abc import Sequence
from typing import Protocol

from services.normalizer.events import Cut, EndMark, Event, Failed, TextDelta, ThinkingDelta

_ENDS = frozenset[type]((EndMark, Failed, Cut))


class Guard(Protocol):
    """Reads one stream's events. Text may be held back, changed into thinking or a call; other events pass as they are.

    Only text and thinking change what a guard does later.

    A guard that let one piece of thinking pass lets the next one pass too, and changes nothing by it.
    """

    @property
    def is_idle(self) -> bool:
        """Nothing is held back, and the next text, unless it is empty or has a `<`, would pass and change nothing."""
        ...

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
        self._is_idle = False
        self._is_thinking = False

    def read(self, events: list[Event]) -> list[Event]:
        """What these events become. A terminal event is the last; before it comes all that was held back."""
        if len(events) == 1:
            # Nearly all reads bring one delta that concerns no guard; to ask each of them would cost 0.8 us of 4.
            event = events[0]
            if type(event) is TextDelta:
                if self._is_idle and event.text and "<" not in event.text:
                    return events
            elif type(event) is ThinkingDelta:
                if self._is_thinking:
                    return events
            elif type(event) not in _ENDS:
                return events
        if self._is_idle and _is_end_alone(events):
            return events
        return self._read(events)

    def _read(self, events: list[Event]) -> list[Event]:
        if not events:
            return events
        self._is_thinking = isinstance(events[-1], ThinkingDelta) and events[-1].text != ""
        end = events.pop() if type(events[-1]) in _ENDS else None
        for guard in self._guards:
            out: list[Event] = []
            for event in events:
                guard.read(event, out)
            if end is not None:
                guard.close(out)
            events = out
        if end is not None:
            events.append(end)
        self._is_idle = all(guard.is_idle for guard in self._guards)
        return events


def _is_end_alone(events: list[Event]) -> bool:
    """The stream ends, and says nothing before it that a guard would change."""
    if not events or type(events[-1]) not in _ENDS:
        return False
    for event in events:  # noqa: SIM110 - a generator's steps cost as much as the looks
        if type(event) is TextDelta or type(event) is ThinkingDelta:
            return False
    return True
