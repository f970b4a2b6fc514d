"""The figures of an outage, and what must not be so: a turn that does not go on, a flooded log, a port that lies."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from schemas.deliveries import NOTICE
from services.sandbox.chaos.figures import times
from services.sandbox.chaos.outages.lines import LogVolume
from services.sandbox.chaos.outages.watch import Health, Memory
from services.sandbox.chaos.scenarios.scenario import Figures
from services.sandbox.checking.index import Index

MOST_LINES = 1.5
"""Lines a second that a process may write in the mean of an outage: one, and what turns say that end meanwhile."""

BACK_WITHIN_S = 30.0
"""Of the last turn: from the outage's end to its next visible text. A busy machine may take long, so this is wide."""

TOLD_WITHIN_S = 20.0
"""How long after its beginning every process that depends on what is away must have said so."""

MOST_GROWTH_MIB = 64.0


@dataclass(frozen=True, slots=True)
class Seen:
    """One outage. `open`: the turns that had no result when it began; `tells`: the kinds that must say that it is so.
    `found`: texts that stood in their channels already when delivery looked before it sent them."""

    away_s: float
    open: frozenset[str]
    asked: frozenset[str]
    end: float
    log: LogVolume
    health: Health
    memory: Memory
    tells: frozenset[str]
    found: int


def judge(seen: Seen, index: Index) -> Figures:
    """The figures of the run."""
    back = times(sorted(_back(seen, index)))
    log, health, memory = seen.log, seen.health, seen.memory
    told = {kind: after_s for kind, after_s in health.told_after_s.items() if kind in seen.tells}
    lines = (
        f"away          {seen.away_s:.1f} s, {len(seen.open)} turns open at its beginning",
        f"text again    after {_seconds(back.p50)} in the median turn, {_seconds(back.max)} in the last of {back.count}",
        f"found         {seen.found} texts in their channels, so not sent again",
        f"log meanwhile {log.worst_mean} lines a second of {log.worst}; {log.most} in one second; {log.lines} in all",
        *(f"  {loud.lines:5} {loud.process}: {loud.event}" for loud in log.loudest),
        "not ready     " + ", ".join(f"{kind} after {_seconds(after_s)}" for kind, after_s in told.items()),
        *(f"  {count:5} {reason}" for reason, count in health.reasons.items()),
        f"ready again   after {_seconds(health.ready_after_s)}; {health.dead_looks} looks at which /livez did not answer",
        f"memory        {memory.before} to {memory.peak} MiB in {memory.process}",
    )
    return Figures(
        report={
            "away_s": round(seen.away_s, 1),
            "open": len(seen.open),
            "back_s": asdict(back),
            "found": seen.found,
            "log": asdict(log),
            "health": asdict(health),
            "memory_mib": asdict(memory),
        },
        lines=lines,
        failures=tuple(_failures(seen, index, back.max, told)),
    )


def _back(seen: Seen, index: Index) -> Iterator[float]:
    """Of each turn that was open: from the outage's end to its next visible text."""
    for turn in seen.open:
        at = [message.at for key, messages in index.shown.items() if key[0] == turn for message in messages]
        after = [one - seen.end for one in at if one >= seen.end]
        if after:
            yield min(after)


def _failures(seen: Seen, index: Index, back: float | None, told: dict[str, float | None]) -> Iterator[str]:
    log, health, memory = seen.log, seen.health, seen.memory
    if seen.open and back is None:
        yield "no turn that was open showed anything after the outage"
    if back is not None and back > BACK_WITHIN_S:
        yield f"a turn showed nothing for {back:.1f} s after the outage"
    if log.worst_mean > MOST_LINES:
        yield f"{log.worst} wrote {log.worst_mean} lines a second to its log in the outage"
    if seen.away_s > TOLD_WITHIN_S:
        for kind, after_s in told.items():
            if after_s is None or after_s > TOLD_WITHIN_S:
                yield f"not every {kind} said within {TOLD_WITHIN_S:g} s that it is not ready"
    if health.ready_after_s is None:
        yield "not every process was ready again after the outage"
    if memory.peak - memory.before > MOST_GROWTH_MIB:
        yield f"{memory.process} grew from {memory.before} to {memory.peak} MiB"
    for turn in seen.asked:
        finished = index.turn(turn).finished
        if finished is not None and finished.status != "completed" and not _told_user(index, turn):
            yield f"turn {turn} ended with {finished.status}, and its user was not told"


def _told_user(index: Index, turn: str) -> bool:
    return any(
        message.text.startswith(NOTICE)
        for key, messages in index.shown.items()
        if key[0] == turn
        for message in messages
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"
