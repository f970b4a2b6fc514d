"""What the workers' logs tell: loads with the inbox's end of their partition, kept partitions since the last takeover."""

import pytest

from services.runtime.partitions import partition_of
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.memories import read_memories
from services.sandbox.checking.history import Kept, SnapshotLoaded

CLOCK = RunClock(began_s=1_767_261_600.0)  # 2026-01-01T10:00:00Z


def assigned(second: int, kept: list[int], fresh: list[int]) -> bytes:
    return (
        f'{{"topic": "inbox", "kept": {kept}, "fresh": {fresh}, "event": "assigned", "instance": "orchestrator-0", '
        f'"level": "info", "timestamp": "2026-01-01T10:00:{second:02}.500000Z"}}'
    ).encode()


def test_a_kept_partition_is_told_with_the_time_since_which_its_process_has_it() -> None:
    lines = [
        assigned(1, [], [0, 1]),
        assigned(3, [0], [2]),
        b"Traceback",
        assigned(5, [0, 2], []),
        assigned(7, [], [0]),
    ]
    memories = read_memories([lines, [assigned(9, [0], [])]], CLOCK, 4)
    assert memories.kept == [
        Kept(3.5, "inbox", 0, "orchestrator-0", 1.5),
        Kept(5.5, "inbox", 0, "orchestrator-0", 1.5),
        Kept(5.5, "inbox", 2, "orchestrator-0", 3.5),
        Kept(9.5, "inbox", 0, "orchestrator-0", None),
    ]
    assert memories.loads == []


@pytest.mark.parametrize("channel", ["100", "101", "102", "103"])
def test_a_load_is_told_for_each_channel_with_the_end_of_its_partition(channel: str) -> None:
    line = (
        b'{"event": "snapshots loaded", "partitions": [0, 1, 2, 3], "channels": 1, "began_ms": 1767261602000, '
        b'"ends": {"0": 10, "1": 11, "2": 12, "3": 13}, "settled": {"%s": 7}}' % channel.encode()
    )
    memories = read_memories([[line, line[:-20]]], CLOCK, 4)
    assert memories.loads == [SnapshotLoaded(2.0, channel, 7, 10 + partition_of(channel.encode(), 4))]
