"""One record on its way through a worker: it is acknowledged when nothing that depends on it is open any more."""

import asyncio
from collections.abc import Callable

from schemas.headers import Facts
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.sender import Sender


class Inbound:
    """A record in a worker's hands.

    Its offset counts as finished when the handler has returned, every emitted record is acknowledged by the broker, and
    every hold is released. The worker commits only the contiguous prefix of finished offsets, so whatever is not
    finished is read again after a crash.
    """

    __slots__ = ("_finished", "_open", "_sender", "facts", "record")

    def __init__(self, record: LogRecord, facts: Facts, sender: Sender, finished: Callable[[], None]) -> None:
        self.record = record
        self.facts = facts
        self._sender = sender
        self._finished = finished
        self._open = 1

    def emit(self, new: NewRecord) -> "asyncio.Future[Appended]":
        """Send an output; this record is not finished before the output is acknowledged.

        Raises RecordTooLarge at once for a value over its topic's limit.
        """
        future = self._sender.send(new)
        self._open += 1
        future.add_done_callback(self._acknowledged)
        return future

    def hold(self) -> None:
        """Keep the record unfinished until `release` is called once more."""
        self._open += 1

    def release(self) -> None:
        """Give back one hold (the handler's own is given back by the worker)."""
        self._open -= 1
        if self._open == 0:
            self._finished()

    def _acknowledged(self, future: "asyncio.Future[Appended]") -> None:
        # A failed or cancelled append leaves the record unfinished on purpose: it will be read again.
        if not future.cancelled() and future.exception() is None:
            self.release()
