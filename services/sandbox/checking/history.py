"""The history of a run: the log, the provider's record of calls, the channels as Discord shows them, commits, owners.

Times are seconds of one clock of the run (virtual, or the observer's monotonic one). A part that a run cannot observe is
None, and the checks that need it are skipped and named as such.
"""

from dataclasses import dataclass, field

from services.orchestrator.rules import RULES, RulesByVersion
from services.runtime.log import LogRecord


@dataclass(frozen=True, slots=True)
class Written:
    """One append. `at` is when it was observed; `order` is its place in the run's total order of appends.

    On a real broker the order is known within a partition only; there `order` follows the timestamps.
    """

    at: float
    order: int
    record: LogRecord


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """One HTTP call that the provider saw. `sent` is what it wrote into the connection while that was open.

    `closed_at` is when the provider saw the connection closed or closed it itself; None while it is open.
    """

    turn: str
    generation: int
    instance: str
    opened_at: float
    closed_at: float | None
    sent: bytes
    finished: bool


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message by the bot as the channel shows it, in Discord's order."""

    channel: str
    message_id: str
    text: str
    nonce: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the group took: the next offset to read."""

    at: float
    group: str
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Owned:
    """From `at` on the member owns the partition of the topic."""

    at: float
    topic: str
    partition: int
    member: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A process treated the partition as kept over a rebalance, at `at`, as the member that it names.

    `since` is when that process last took the partition over afresh; None where nobody noted it.
    """

    at: float
    topic: str
    partition: int
    member: str
    since: float | None = None


@dataclass(frozen=True, slots=True)
class SnapshotLoaded:
    """A process took over a channel with the snapshot that settles `settled`; `end` is the inbox's end then."""

    at: float
    channel: str
    settled: int
    end: int


@dataclass(slots=True)
class History:
    """One run. `partitions` is the channel topics' number; `at_rest` says that the run waited until nothing went on.

    `rules` is what the newest code of the run carried.
    """

    partitions: int
    at_rest: bool
    rules: RulesByVersion = field(default_factory=lambda: RULES)
    writes: list[Written] = field(default_factory=list[Written])
    calls: list[ProviderCall] = field(default_factory=list[ProviderCall])
    shown: list[ShownMessage] = field(default_factory=list[ShownMessage])
    commits: list[Commit] | None = None
    ends: dict[tuple[str, int], int] | None = None
    owners: list[Owned] | None = None
    kept: list[Kept] | None = None
    loads: list[SnapshotLoaded] | None = None
    frozen: list[tuple[str, float, float]] = field(default_factory=list[tuple[str, float, float]])
    """(instance, from, to): times in which a process was stopped, so that it could not react."""
    dead: list[tuple[str, float, float]] = field(default_factory=list[tuple[str, float, float]])
    """(instance, from, to): times in which a slot had no process; `to` is infinite where none came back."""
    away: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """(from, to): times in which the broker answered nobody."""
    events: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """(at, what): the faults and whatever else came from outside, for the story of a violation."""
    late: float = 0.0
    """By how many seconds the observer may have seen an append after it was made; 0 in a simulated world."""

    events: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """What happened to processes, broker, Discord and users, for the story."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that was broken: its number in the list, what happened, and where to look."""

    invariant: int
    what: str
    channel: str | None = None
    turn: str | None = None
    at: float | None = None
