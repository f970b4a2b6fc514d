"""One record on its way through a worker: it is acknowledged when nothing that depends on it is open any more."""

import asyncio
from collections.abc import Callable

from schemas.headers import Facts
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.sender import Sender


class Pending:
    """What keeps one record unfinished: the handler, outputs without acknowledgement, holds. It does not keep the record.

    A record is finished once: what is added afterwards changes nothing any more.
    """

    __slots__ = ("_done", "_finished", "_open")

    def __init__(self, finished: Callable[[], None]) -> None:
        self._finished = finished
        self._open = 1
        self._done = False

    def add(self) -> None:
        """One more thing to wait for."""
        self._open += 1

    def release(self) -> None:
        """One thing less; with the last one the record is finished."""
        self._open -= 1
        if self._open == 0 and not self._done:
            self._done = True
            self._finished()


class Inbound:
    """A record in a worker's hands.

    Its offset counts as finished when the handler has returned, every emitted record is acknowledged by the broker, and
    every hold is released. The worker commits only the contiguous prefix of finished offsets, so whatever is not
    finished is read again after a crash.
    """

    __slots__ = ("_pending", "_sender", "facts", "record")

    def __init__(self, record: LogRecord, facts: Facts, sender: Sender, pending: Pending) -> None:
        self.record = record
        self.facts = facts
        self._sender = sender
        self._pending = pending

    def emit(self, new: NewRecord) -> "asyncio.Future[Appended]":
        """Send an output; this record is not finished before the output is acknowledged.

        Raises RecordTooLarge at once for a value over its topic's limit.
        """
        future = self._sender.send(new)
        self._pending.add()
        future.add_done_callback(self._acknowledged)
        return future

    def hold(self) -> Pending:
        """Keep the record unfinished until `release` is called on what this returns."""
        self._pending.add()
        return self._pending

    def _acknowledged(self, future: "asyncio.Future[Appended]") -> None:
        # A failed or cancelled append leaves the record unfinished on purpose: it will be read again.
        if not future.cancelled() and future.exception() is None:
            self._pending.release()
