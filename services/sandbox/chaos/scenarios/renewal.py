"""Renewing processes one after another, as a rolling restart does, and what the turns that stream meanwhile show of it."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from services.sandbox.chaos.pauses import Pause, first_waits, longest, pauses, text_times
from services.sandbox.chaos.scenarios.scenario import Crowd, Figures, Run
from services.sandbox.chaos.slots import Slot, Window
from services.sandbox.chaos.strikes import Struck
from services.sandbox.checking.index import Index

READY_WITHIN_S = 180.0
CALM_S = 15.0
SETTLE_S = 3.0
"""After the last successor is ready its group may still be moving partitions."""


@dataclass(slots=True)
class Renewal:
    """What was renewed in a run. `calm`: an undisturbed stretch before it, to compare with."""

    calm: Window
    restarts: list[Window] = field(default_factory=list[Window])

    @property
    def whole(self) -> Window:
        """From the first SIGTERM until everybody has settled."""
        return Window("renewal", self.restarts[0].start, self.restarts[-1].end + SETTLE_S)


async def renew(run: Run, slots: Iterable[Slot], struck: Struck, restarts: list[Window]) -> None:
    """SIGTERM to each process, the next one when the successor is ready."""
    for slot in slots:
        restarts.append(await run.slots.renew(slot, READY_WITHIN_S))
        struck.faults["sigterm"] += 1
        run.say(f"{slot.name} renewed in {restarts[-1].end - restarts[-1].start:.1f} s")


async def calm(run: Run, crowd: Crowd) -> Window:
    """Wait for as long as was asked for, of which the last part is the undisturbed stretch."""
    for_s = min(CALM_S, run.wishes.seconds / 2)
    await asyncio.sleep(run.wishes.seconds - for_s)
    window = Window("calm", run.clock.now())
    await asyncio.sleep(for_s)
    window.end = run.clock.now()
    run.say(f"{len(crowd.asked)} turns asked; the restarts begin")
    return window


@dataclass(frozen=True, slots=True)
class Shown:
    """Seconds. `by_slot`: the longest pause around each restart."""

    interrupted: int
    called_again: int
    streaming: int
    pause_calm_s: float | None
    pause_s: float | None
    first_text_calm_s: float | None
    first_text_s: float | None
    restart_s: dict[str, float]
    by_slot: dict[str, float | None]


def look(index: Index, crowd: Crowd, renewal: Renewal) -> Shown:
    """Read from the history what the renewal did to the turns."""
    texts = text_times(index)
    between, first = pauses(texts), first_waits(crowd.asked.values(), texts)
    whole = renewal.whole
    interrupted = [turn for turn in crowd.asked if not _completed(index, turn)]
    calls = {turn: sum(len(found) for (of, _), found in index.calls.items() if of == turn) for turn in crowd.asked}
    return Shown(
        interrupted=len(interrupted),
        called_again=sum(count - 1 for count in calls.values() if count > 1),
        streaming=sum(1 for times in texts.values() if times[0] < whole.start < times[-1]),
        pause_calm_s=_seconds(longest(between, renewal.calm, whole=True)),
        pause_s=_seconds(longest(between, whole)),
        first_text_calm_s=_seconds(longest(first, renewal.calm, whole=True)),
        first_text_s=_seconds(longest(first, whole)),
        restart_s={one.name: round(one.end - one.start, 2) for one in renewal.restarts},
        by_slot={
            one.name: _seconds(longest(between, Window(one.name, one.start, one.end + SETTLE_S)))
            for one in renewal.restarts
        },
    )


def told(shown: Shown) -> Figures:
    """The figures, and what of them must not be."""
    failures: list[str] = []
    if shown.interrupted:
        failures.append(f"{shown.interrupted} turns that nobody stopped are not completed")
    if shown.called_again:
        failures.append(f"{shown.called_again} provider calls beyond the first of a turn")
    slowest = {name: seconds for name, seconds in shown.by_slot.items() if seconds is not None}
    worst = max(slowest, key=lambda name: slowest[name], default="-")
    report: dict[str, Any] = asdict(shown)
    return Figures(
        report,
        (
            f"streaming     {shown.streaming} turns as the restarts began, {len(shown.restart_s)} processes restarted",
            f"interrupted   {shown.interrupted} turns, {shown.called_again} called again",
            f"longest pause {_told(shown.pause_s)} of visible text during the restarts (around {worst}), "
            f"{_told(shown.pause_calm_s)} before them",
            f"first text    after {_told(shown.first_text_s)} at most, {_told(shown.first_text_calm_s)} before them",
        ),
        tuple(failures),
    )


def _completed(index: Index, turn: str) -> bool:
    finished = index.turn(turn).finished
    return finished is not None and finished.status == "completed"


def _seconds(pause: Pause | None) -> float | None:
    return None if pause is None else round(pause.seconds, 2)


def _told(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f} s"
