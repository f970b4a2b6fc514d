"""What a service implements: one handler a process, called for each record of its input topic."""

from collections.abc import Collection
from typing import Protocol

from schemas.headers import Facts
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, NewRecord


class Handler(Protocol):
    """The part of a worker that knows what a record means.

    Errors: raise `schemas.errors.BadRecord` or `services.runtime.errors.Poison` for what can never be handled (it is
    dead-lettered), `services.runtime.errors.Unavailable` for a dependency that is down (the record is tried again and
    its channel waits). Any other exception is a defect: it is logged with its traceback and the record is dead-lettered.
    """

    async def handle(self, inbound: Inbound) -> None:
        """Handle one record. Calls for one channel come one after another in offset order, channels run side by side."""
        ...

    def arrived(self, inbound: Inbound) -> bool:
        """Called at once when a record has been read, before it waits in its channel's mailbox; must be quick.

        True where this was all that is to be done: the record then waits behind no other of its channel, and takes no
        room in the bound of those that wait.
        """
        ...

    async def recover(self, partitions: Collection[int]) -> None:
        """Load what the partitions' channels need before their first record; runs while they are paused."""
        ...

    def dropped(self, partitions: Collection[int]) -> None:
        """Forget all state of the partitions: they are no longer ours, or will be read again from the start."""
        ...

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """The records that end the turn of a dead-lettered record with an error that the user sees.

        `facts` is None where the headers could not be read. `message` holds nothing that users or providers wrote.
        """
        ...
