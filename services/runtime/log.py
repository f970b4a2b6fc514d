"""The log port: what workers know of Kafka, and all that a simulated log has to provide.

Topic and group names are those of topics.yaml; the prefix setting is the implementation's affair. The port promises order
within a partition and that an acknowledged record is kept. It promises neither exactly one copy nor a bound in time,
since a broker may be away: a caller that must not wait for ever brings a timeout.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from schemas.headers import Headers


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record as it was read. `timestamp_ms` is the append time for log-append topics, else the writer's."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, slots=True)
class NewRecord:
    """One record to be appended. Without `partition` it goes to the partition of its key."""

    topic: str
    key: bytes
    value: bytes | None
    headers: Headers
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an acknowledged record lies."""

    partition: int
    offset: int


class Members(Protocol):
    """What a group reader tells of its assignment. Both are called inside a rebalance, so they must not block."""

    def revoked(self, partitions: Collection[int]) -> None:
        """The group rebalances; the partitions may come back or not, and nothing is fetched until `assigned`."""
        ...

    def assigned(self, partitions: Collection[int], kept: Collection[int]) -> Mapping[int, int]:
        """All partitions that are now ours; those in `kept` had no other owner in between.

        Returns the offset from which each kept partition goes on. The others stand at their committed offset and are
        paused until `GroupReader.resume`.
        """
        ...


class GroupReader(Protocol):
    """One member of a consumer group on one topic."""

    async def start(self, members: Members) -> None:
        """Join; returns before the first assignment."""
        ...

    async def fetch(self, max_records: int) -> list[LogRecord]:
        """The next records, in order within each partition; may return none. Waits for about half a second at most."""
        ...

    async def commit(self, offsets: Mapping[int, int]) -> bool:
        """Commit partition -> next offset to read. False where the group did not take it (a rebalance, an eviction)."""
        ...

    def heartbeat_age_s(self) -> float:
        """Seconds since the last heartbeat that the group took as a member's was sent; infinite where there is none.

        It is never young before `assigned` has told what a member that was thrown out has lost.
        """
        ...

    def pause(self, partition: int) -> None:
        """Fetch nothing more of an assigned partition."""
        ...

    def resume(self, partition: int) -> None:
        """Fetch the partition again."""
        ...

    async def stop(self, *, leave: bool) -> None:
        """End the membership, within a bound of time. `leave`: tell the group at once, even as a static member."""
        ...


class Tail(Protocol):
    """A reader of a whole topic, without a group. Its callback gets every record once, in partition order."""

    async def start(self) -> None: ...

    async def caught_up(self) -> None:
        """Wait until everything that was in the topic at `start` has been read."""
        ...

    async def reached(self, partition: int, offset: int) -> None:
        """Wait until the record at `offset` has been read."""
        ...

    def at_end(self, partition: int) -> bool:
        """Whether the last fetch of the partition came to its end, and not long ago: False while the broker is away."""
        ...

    async def stop(self) -> None: ...


class Log(Protocol):
    """A cluster, as one process sees it."""

    async def start(self) -> None: ...

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has; fixed at its birth."""
        ...

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        """Hand a record over and return a future of its acknowledgement. Waits only for space in the buffer.

        Use `services.runtime.sender.Sender`, which keeps the order when an append has to be repeated.
        """
        ...

    def group(self, topic: str, group: str) -> GroupReader: ...

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> Tail:
        """A tail that starts with the first record whose timestamp is `since_ms` or later."""
        ...

    def read_to_end(
        self, topic: str, partitions: Collection[int], *, since_ms: int = 0, first: Mapping[int, int] | None = None
    ) -> AsyncIterator[LogRecord]:
        """All records of the partitions, from the first that is as young as `since_ms` up to their present end.

        Where `first` names an offset of a partition it does not begin before that one. May begin earlier where the broker
        cannot tell the offset of a time. Raises Unavailable while no broker answers.
        """
        ...

    async def ends(self, topic: str, partitions: Collection[int]) -> Mapping[int, int]:
        """The offset that each partition's next record gets; a partition whose end the broker does not tell is left out."""
        ...

    async def stop(self) -> None: ...
