"""How much the workers log: lines a second of each process, which shows whether one floods its log."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_SECOND = re.compile(rb'"timestamp": ?"([0-9T:-]{19})')


@dataclass(frozen=True, slots=True)
class LogLines:
    """Lines a second over the run, of the process that logs most and on average; `peak`: in one second of one process."""

    most: float
    of: str
    mean: float
    peak: int


def log_lines(logs: Mapping[str, Iterable[bytes]], seconds: float) -> LogLines:
    """Count the lines of each slot's log; a slot's processes share one."""
    rates: dict[str, float] = {}
    peak = 0
    for name, lines in logs.items():
        count = 0
        by_second: Counter[bytes] = Counter()
        for line in lines:
            count += 1
            second = _SECOND.search(line)
            if second is not None:
                by_second[second[1]] += 1
        rates[name] = count / seconds
        peak = max(peak, *by_second.values(), 0)
    if not rates:
        return LogLines(0.0, "", 0.0, 0)
    most = max(rates, key=lambda name: rates[name])
    return LogLines(round(rates[most], 2), most, round(sum(rates.values()) / len(rates), 2), peak)


def read_logs(directory: Path, slots: Iterable[str]) -> dict[str, list[bytes]]:
    """The lines of every slot's log; of one that has none yet there are none."""
    return {name: _lines(directory / f"{name}.log") for name in slots}


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []
