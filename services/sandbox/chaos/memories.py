"""What the workers' own logs tell of their memory: snapshots that they took over, and partitions that they kept.

Nobody else can know it. The lines are `assigned` of the feed and `snapshots loaded` of the orchestrator; one names at
most so many channels as `services.orchestrator.actors.LISTED`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import BaseModel, ConfigDict, ValidationError

from services.runtime.partitions import partition_of
from services.sandbox.chaos.clock import RunClock
from services.sandbox.checking.history import Kept, SnapshotLoaded


class _Assigned(BaseModel):
    """A process of the slot `instance` has a new assignment."""

    model_config = ConfigDict(extra="ignore")

    instance: str
    timestamp: datetime
    topic: str
    kept: list[int]
    fresh: list[int]


class _Loaded(BaseModel):
    """A process has taken channels over; it began to read the snapshots at `began_ms`."""

    model_config = ConfigDict(extra="ignore")

    began_ms: int
    ends: dict[int, int]
    settled: dict[str, int]


@dataclass(slots=True)
class Memories:
    """In the order of each log."""

    kept: list[Kept] = field(default_factory=list[Kept])
    loads: list[SnapshotLoaded] = field(default_factory=list[SnapshotLoaded])


def read_memories(logs: Iterable[Iterable[bytes]], clock: RunClock, partitions: int) -> Memories:
    """Read the lines of every slot's log. `partitions`: how many the channels' topics have."""
    memories = Memories()
    for lines in logs:
        since: dict[tuple[str, int], float] = {}
        for line in lines:
            if b'"assigned"' in line:
                _take_assigned(memories, since, line, clock)
            elif b'"snapshots loaded"' in line:
                _take_loaded(memories, line, clock, partitions)
    return memories


def _take_assigned(memories: Memories, since: dict[tuple[str, int], float], line: bytes, clock: RunClock) -> None:
    try:
        told = _Assigned.model_validate_json(line)
    except ValidationError:
        return  # cut off by a kill, or another's line
    at = clock.at_wall(told.timestamp.timestamp())
    memories.kept += [
        Kept(at, told.topic, partition, told.instance, since.get((told.topic, partition))) for partition in told.kept
    ]
    since |= {(told.topic, partition): at for partition in told.fresh}


def _take_loaded(memories: Memories, line: bytes, clock: RunClock, partitions: int) -> None:
    try:
        told = _Loaded.model_validate_json(line)
    except ValidationError:
        return
    at = clock.at_ms(told.began_ms)
    for channel, settled in told.settled.items():
        # Of a broker that tells no ends there is nothing to be beyond.
        end = told.ends.get(partition_of(channel.encode(), partitions), settled + 1)
        memories.loads.append(SnapshotLoaded(at, channel, settled, end))
