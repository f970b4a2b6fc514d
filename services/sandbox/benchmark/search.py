"""The search for the highest number of turns at once that holds: doubled until it does not, then halved in between."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

PRECISION = 0.1
"""The search ends when the bounds are this close, as a part of the lower one."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One load of a search; `why` it did not hold, None where it did."""

    turns: int
    why: str | None


async def search_highest(
    holds: Callable[[int], Awaitable[str | None]], *, first: int, most: int
) -> tuple[int, tuple[Tried, ...]]:
    """The highest number of turns up to `most` that held, 0 where none did, and all that was tried.

    `holds` runs a number of turns and says why it does not hold.
    """
    tried: list[Tried] = []
    good, bad = 0, most + 1
    turns = min(first, most)
    while True:
        why = await holds(turns)
        tried.append(Tried(turns, why))
        good, bad = (max(good, turns), bad) if why is None else (good, min(bad, turns))
        if bad - good <= max(1, int(good * PRECISION)):
            return good, tuple(tried)
        turns = min(turns * 2, most) if bad > most else (good + bad) // 2
