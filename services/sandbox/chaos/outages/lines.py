"""What processes wrote to their logs in a span of time: how many lines a second, and which lines most often."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from services.sandbox.chaos.clock import RunClock

LOUDEST = 8


@dataclass(frozen=True, slots=True)
class Loud:
    """A line that a process repeated: its event, and how often."""

    process: str
    event: str
    lines: int


@dataclass(frozen=True, slots=True)
class LogVolume:
    """Lines in a span of time. `worst_mean`: a second, of `worst`, the process that wrote most; `most`: in one second."""

    lines: int
    worst: str
    worst_mean: float
    most: int
    loudest: tuple[Loud, ...]


def volume(logs: Mapping[str, Path], clock: RunClock, start: float, end: float) -> LogVolume:
    """Count the lines of each process's log between two times of the run's clock.

    A line that is no JSON (a traceback, a warning of the interpreter) counts as written with the line before it.
    """
    events: Counter[tuple[str, str]] = Counter()
    of_process: Counter[str] = Counter()
    most = 0
    for process, path in logs.items():
        seconds: Counter[int] = Counter()
        at = float("-inf")
        for line in path.read_text(errors="replace").splitlines():
            event = line.strip()[:80]
            try:
                read = json.loads(line)
                at = clock.at_wall(datetime.fromisoformat(read["timestamp"]).timestamp())
                event = f"{read.get('logger', '?')}: {str(read['event'])[:80]}"
            except (ValueError, KeyError, TypeError):
                pass
            if start <= at < end:
                seconds[int(at - start)] += 1
                of_process[process] += 1
                events[process, event] += 1
        most = max(most, *seconds.values(), 0)
    worst, lines = of_process.most_common(1)[0] if of_process else ("-", 0)
    return LogVolume(
        lines=of_process.total(),
        worst=worst,
        worst_mean=round(lines / max(end - start, 1.0), 2),
        most=most,
        loudest=tuple(Loud(process, event, count) for (process, event), count in events.most_common(LOUDEST)),
    )
