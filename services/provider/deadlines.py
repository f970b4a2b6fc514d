"""When to give up on a stream: the first byte, the idle time between bytes, the whole.

The deadline for the connection itself is the transport's.
"""

from typing import Literal

from schemas.prompts import StreamDeadlines

Overdue = Literal["first_byte_timeout", "idle_timeout", "total_timeout"]


class Deadlines:
    """The deadlines of one stream; times are seconds of any monotonic clock.

    The wait for the first byte ends with the first byte that is no keep-alive: a provider that says "still working"
    for two minutes has not begun to answer.
    """

    __slots__ = ("_idle_s", "_overdue", "_total", "_waiting")

    def __init__(self, limits: StreamDeadlines, now: float) -> None:
        self._idle_s = limits.idle_ms / 1000
        self._total = now + limits.total_ms / 1000
        self._waiting = now + limits.first_byte_ms / 1000
        self._overdue: Overdue = "first_byte_timeout"

    def progressed(self, now: float) -> None:
        """The reply came forward: the idle time starts anew."""
        self._waiting = now + self._idle_s
        self._overdue = "idle_timeout"

    def held_back(self, seconds: float) -> None:
        """We read nothing for so long, which is none of the provider's silence."""
        self._waiting += seconds

    @property
    def next(self) -> float:
        """When the stream is given up unless it comes forward."""
        return min(self._waiting, self._total)

    @property
    def total(self) -> float:
        """When the stream is given up even if it comes forward."""
        return self._total

    @property
    def overdue(self) -> Overdue:
        """Which deadline `next` is."""
        return "total_timeout" if self._total <= self._waiting else self._overdue
