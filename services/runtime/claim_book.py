"""What the claims topic says, as a fold over its records: who won an effect, how it ended, when its holder last spoke.

Pure: times are given, nothing is read or written. The first claim of an effect in the log wins; the first close counts.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import assert_never

from schemas.claims import Alive, Claimed, Closed, Closing

CLOSED_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Holder:
    """One life of a process in a slot."""

    instance: str
    incarnation: str


@dataclass(slots=True)
class _Effect:
    holder: Holder | None
    channel: str
    partition: int
    outcome: Closing | None = None


class ClaimBook:
    """All effects that are open, and the last CLOSED_KEPT that were closed."""

    def __init__(self) -> None:
        self._open: dict[str, _Effect] = {}
        self._closed: OrderedDict[str, _Effect] = OrderedDict()
        self._heard: dict[str, float] = {}

    def apply(self, record: Claimed | Alive | Closed, *, channel: str, partition: int, now: float) -> str | None:
        """Take one record of the topic, in log order. `now` is the reader's monotonic time, in seconds.

        Returns the effect that this record closed, if it did.
        """
        match record:
            case Claimed():
                self._heard[record.incarnation] = now
                if record.effect not in self._closed and record.effect not in self._open:
                    holder = Holder(record.instance, record.incarnation)
                    self._open[record.effect] = _Effect(holder, channel, partition)
                return None
            case Alive():
                self._heard[record.incarnation] = now
                return None
            case Closed():
                self._heard[record.by] = now
                if record.effect in self._closed:
                    return None
                effect = self._open.pop(record.effect, None) or _Effect(None, channel, partition)
                effect.outcome = record.outcome
                self._closed[record.effect] = effect
                if len(self._closed) > CLOSED_KEPT:
                    self._closed.popitem(last=False)
                self._forget_silent()
                return record.effect
            case _:
                assert_never(record)

    def _forget_silent(self) -> None:
        if len(self._heard) > 1_000:
            holding = {effect.holder.incarnation for effect in self._open.values() if effect.holder is not None}
            self._heard = {name: at for name, at in self._heard.items() if name in holding}

    def holder(self, effect: str) -> Holder | None:
        """Who holds an open effect; None where it is unknown or closed."""
        entry = self._open.get(effect)
        return None if entry is None else entry.holder

    def outcome(self, effect: str) -> Closing | None:
        """How the effect ended; None where it is open or unknown."""
        entry = self._closed.get(effect)
        return None if entry is None else entry.outcome

    def last_heard(self, incarnation: str) -> float | None:
        """When the incarnation last wrote into claims, by the reader's monotonic clock."""
        return self._heard.get(incarnation)

    def held_by_predecessors(self, instance: str, incarnation: str) -> list[tuple[str, str]]:
        """(effect, channel) of all open effects of the slot's earlier lives."""
        return [
            (name, effect.channel)
            for name, effect in self._open.items()
            if effect.holder is not None
            and effect.holder.instance == instance
            and effect.holder.incarnation != incarnation
        ]

    @property
    def open_count(self) -> int:
        """How many effects are claimed and not closed."""
        return len(self._open)

    def partitions_held(self, incarnation: str) -> set[int]:
        """The partitions in which the incarnation holds an open effect."""
        return {
            e.partition for e in self._open.values() if e.holder is not None and e.holder.incarnation == incarnation
        }
