"""What the claims topic says, as a fold over its records: who won an effect, how it ended, when its holder last spoke.

Pure: times are given, nothing is read or written. The first claim of an effect in the log wins; the first close counts.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import assert_never

from schemas.claims import Alive, Claimed, Closed, Closing

CLOSED_KEPT = 20_000
OPEN_KEPT_S = 15 * 60
"""How long an open claim counts: longer than a call can last, since an open claim that is older is nobody's.

A call begins right after its claim, and only while its prompt is younger than its time to live; it ends within
`StreamDeadlines.total_ms`, 10 minutes. An un-acked prompt whose claim lies further back (all provider workers were away
for an hour) is past its time to live: whoever claims it again makes no call, but ends it as expired, and the turn, if it
still waits, ends by its deadline. A holder that was frozen for so long was declared lost after 6 s and gives up when it
wakes. So a process that runs may forget what one that starts does not read.
"""


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
    read: float
    outcome: Closing | None = None


class ClaimBook:
    """The effects that were claimed within OPEN_KEPT_S and are open, and the last CLOSED_KEPT that were closed."""

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
                self._forget_old(now)
                if record.effect not in self._closed and record.effect not in self._open:
                    holder = Holder(record.instance, record.incarnation)
                    self._open[record.effect] = _Effect(holder, channel, partition, now)
                return None
            case Alive():
                self._heard[record.incarnation] = now
                return None
            case Closed():
                self._heard[record.by] = now
                if record.effect in self._closed:
                    return None
                effect = self._open.pop(record.effect, None) or _Effect(None, channel, partition, now)
                effect.outcome = record.outcome
                self._closed[record.effect] = effect
                if len(self._closed) > CLOSED_KEPT:
                    self._closed.popitem(last=False)
                self._forget_silent()
                return record.effect
            case _:
                assert_never(record)

    def _forget_old(self, now: float) -> None:
        """Claims were read in the order in which they stand here, so the oldest is the first."""
        while self._open and now - (oldest := next(iter(self._open.items())))[1].read > OPEN_KEPT_S:
            del self._open[oldest[0]]

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
