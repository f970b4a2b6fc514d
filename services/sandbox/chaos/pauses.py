"""Pauses of visible text: how long a turn that goes on shows nothing new, from one of its texts to the next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.sandbox.chaos.people import Asked
from services.sandbox.chaos.slots import Window
from services.sandbox.checking.index import Index


@dataclass(frozen=True, slots=True)
class Pause:
    """Between two neighbouring texts of a turn, in seconds of the run's clock."""

    turn: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


def text_times(index: Index) -> dict[str, list[float]]:
    """When each turn's texts became visible, in order."""
    shown: dict[str, list[float]] = {}
    for (turn, _), messages in index.shown.items():
        shown.setdefault(turn, []).append(min(message.at for message in messages))
    return {turn: sorted(times) for turn, times in shown.items()}


def pauses(texts: Mapping[str, Sequence[float]]) -> list[Pause]:
    """All pauses of all turns."""
    return [Pause(turn, before, after) for turn, times in texts.items() for before, after in pairwise(times)]


def first_waits(asked: Iterable[Asked], texts: Mapping[str, Sequence[float]]) -> list[Pause]:
    """From each question to its turn's first text."""
    return [Pause(one.turn, one.at, texts[one.turn][0]) for one in asked if texts.get(one.turn)]


def longest(found: Iterable[Pause], window: Window, *, whole: bool = False) -> Pause | None:
    """The longest one that has a part in the window, or, if `whole`, lies in it from start to end."""
    inside = [
        pause
        for pause in found
        if (
            window.start <= pause.start and pause.end <= window.end
            if whole
            else pause.start < window.end and pause.end > window.start
        )
    ]
    return max(inside, key=lambda pause: pause.seconds, default=None)
