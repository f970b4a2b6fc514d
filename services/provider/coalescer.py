"""Gathers the bytes of a stream into slices, so that records are few and the first token is still not held back.

Bytes after a quiet gap go out at once; what follows within the window is gathered until the window has passed or the
slice is full. So a stream makes about 40 records a second at most, whatever its token rate.
"""

from dataclasses import dataclass

WINDOW_S = 0.025
FULL_BYTES = 16 * 1024
QUIET_STREAMS = 25
MOST_STRETCH = 4.0


@dataclass(frozen=True, slots=True)
class Gathering:
    """How long (seconds) and how much (bytes) is gathered for one slice."""

    window_s: float = WINDOW_S
    full_bytes: int = FULL_BYTES


def gathering(streams: int) -> Gathering:
    """What to gather while `streams` are in flight: up to four times as much when there are many."""
    stretch = min(max(streams / QUIET_STREAMS, 1.0), MOST_STRETCH)
    return Gathering(WINDOW_S * stretch, int(FULL_BYTES * stretch))


class Coalescer:
    """The bytes of one stream that wait to become a slice; times are seconds of any monotonic clock."""

    __slots__ = ("_due", "_parts", "_sent_at", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._sent_at = float("-inf")
        self._due = float("inf")

    def push(self, data: bytes, now: float, limits: Gathering) -> bytes:
        """Take bytes in; returns the slice that is ready now, empty where there is none."""
        if not data:
            return b""
        if not self._parts:
            self._due = self._sent_at + limits.window_s
        self._parts.append(data)
        self._size += len(data)
        return self.take(now) if now >= self._due or self._size >= limits.full_bytes else b""

    def due(self) -> float | None:
        """When what is gathered must be taken; None while there is nothing."""
        return self._due if self._parts else None

    def take(self, now: float) -> bytes:
        """All that is gathered, as one slice; empty where there is nothing."""
        if not self._parts:
            return b""
        data = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        self._sent_at = now
        return data
