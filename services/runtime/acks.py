"""Which offset of a partition may be committed: the end of the contiguous prefix of finished records.

A commit beyond an unfinished record would lose it after a crash; Kafka knows one number a partition, so what is finished
behind an unfinished record is read again and recognised as finished by the handler.
"""

from collections import deque


class Acks:
    """The records of one partition between the first unfinished one and the last one read."""

    def __init__(self) -> None:
        self._order: deque[int] = deque()
        self._finished: set[int] = set()
        self._committable: int | None = None

    def read(self, offset: int) -> None:
        """A record has been read; offsets come in rising order, gaps (compaction, transactions) are no records."""
        self._order.append(offset)

    def finished(self, offset: int) -> None:
        """A record that was read is finished."""
        self._finished.add(offset)
        while self._order and self._order[0] in self._finished:
            first = self._order.popleft()
            self._finished.discard(first)
            self._committable = first + 1

    @property
    def committable(self) -> int | None:
        """The offset to commit (the next one to read after a restart); None before the first finished prefix."""
        return self._committable

    @property
    def open(self) -> int:
        """How many records are read and not behind the committable offset."""
        return len(self._order)
