"""How a check says what it found, and what it asks of time: could a process react between two moments?"""

from collections.abc import Iterator
from math import inf

from services.sandbox.checking.history import Violation
from services.sandbox.checking.index import Index
from services.sandbox.checking.reading import Read

Found = Iterator[Violation]

BACK_S = 1.0
"""How long after the broker's return its readers may need to be at the end of the log again."""


def found(
    number: int, what: str, read: Read | None = None, *, channel: str | None = None, turn: str | None = None,
    at: float | None = None,
) -> Violation:  # fmt: skip
    """A violation; what is not given comes from the record at fault."""
    if read is not None:
        what = f"{read.where}: {what}"
        if read.facts is not None:
            channel, turn = channel or read.facts.channel, turn or read.facts.turn
        at = read.at if at is None else at
    return Violation(number, what, channel, turn, at)


def hindrances(index: Index, instance: str) -> list[tuple[float, float]]:
    """The (from, to) in which the instance could not react: frozen, without a process, or with the broker away."""
    history = index.history
    own = [(start, end) for name, start, end in (*history.frozen, *history.dead) if name == instance]
    return own + [(start, end + BACK_S) for start, end in history.away]


def was_free(index: Index, instance: str, start: float, end: float) -> bool:
    """Whether nothing hindered the instance in all of that time."""
    return not any(a <= end and b >= start for a, b in hindrances(index, instance))


def reacts_by(index: Index, instance: str, start: float, within_s: float) -> float:
    """By when the instance must have reacted to something at `start`: `within_s` after the last hindrance that hit it."""
    windows = sorted(hindrances(index, instance))
    deadline = start + within_s + index.history.late
    for a, b in windows:
        if a <= deadline and b >= start:
            deadline = max(deadline, b + within_s + index.history.late)
    return deadline


def died_between(index: Index, instance: str, start: float, end: float) -> bool:
    """Whether the slot lost its process in that time."""
    return any(name == instance and start <= a <= end for name, a, _ in index.history.dead)


def seconds(at: float) -> str:
    """A time for people."""
    return "never" if at == inf else f"{at:.3f} s"
