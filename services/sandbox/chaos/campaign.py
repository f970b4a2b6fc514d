"""One run from its start to its verdict."""

import asyncio
import contextlib
import pickle
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.figures import Times, calls_repeated, texts_shown, times
from services.sandbox.chaos.people import People
from services.sandbox.chaos.plan import draw_plan
from services.sandbox.chaos.reading_back import read_back
from services.sandbox.chaos.recovery import recoveries
from services.sandbox.chaos.rest import EndedTurns, wait_for_rest
from services.sandbox.chaos.slots import Slots
from services.sandbox.chaos.stage import Stage, open_stage
from services.sandbox.chaos.strikes import Strikes
from services.sandbox.checking.checks import check
from services.sandbox.checking.history import History, Violation
from services.sandbox.checking.index import Index

Say = Callable[[str], None]
KINDS = ("orchestrator", "context", "provider", "normalizer", "delivery", "gateway")
READY_WITHIN_S = 120.0
REST_WITHIN_S = 120.0
END_WITHIN_S = 6.0
SETTLED_S = 10.0
"""A process that stays away disturbs nobody after so long: others have taken over for it."""

SAY_EVERY_S = 10.0
HISTORY_FILE = "history.pickle"
_TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asked for. `processes`: of each kind."""

    seconds: float
    kills: int
    seed: int
    kafka: str | None
    restart: bool
    processes: int
    partitions: int


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict. Times are seconds. `recovery_s`: of kills that hit a turn in progress; `recovery_alone_s`: of those
    among them that no other fault overlapped, and `beyond_startup_s` that without the start-up of the process that came
    back. `late_s`: the longest that this process itself was held up."""

    seed: int
    seconds: float
    turns: int
    ended: int
    lost: int
    duplicated: int
    calls: int
    calls_repeated: int
    kills: int
    faults: dict[str, int]
    statuses: dict[str, int]
    fell: tuple[str, ...]
    recovery_s: Times
    recovery_alone_s: Times
    beyond_startup_s: Times
    startup_s: Times
    late_s: float
    at_rest: bool
    skipped: tuple[int, ...]
    violations: tuple[Violation, ...]


async def run_campaign(wishes: Wishes, directory: Path, say: Say) -> tuple[Report, History]:
    """Play one run; `directory` gets the logs of all processes, and at the end the history."""
    async with open_stage(
        directory, kafka=wishes.kafka, processes=wishes.processes, partitions=wishes.partitions, say=say
    ) as stage:
        return await _Campaign(wishes, directory, stage, say).run()


class _Campaign:
    def __init__(self, wishes: Wishes, directory: Path, stage: Stage, say: Say) -> None:
        self._wishes = wishes
        self._directory = directory
        self._stage = stage
        self._say = say
        self._late_s = 0.0

    async def run(self) -> tuple[Report, History]:
        wishes, stage = self._wishes, self._stage
        clock = RunClock()
        slots = Slots(self._directory, clock)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(slots.end, END_WITHIN_S)
            self._start_workers(slots)
            self._say(f"starting {len(slots.slots)} worker processes")
            await slots.all_ready(READY_WITHIN_S)
            ended = EndedTurns()
            tail = stage.log.tail("turns", since_ms=clock.began_ms, on_record=ended.take)
            await tail.start()
            stack.push_async_callback(tail.stop)
            people = People(stage.discord.world, stage.channels, wishes.seed, clock)
            plan = draw_plan(
                wishes.seed,
                seconds=wishes.seconds,
                kills=wishes.kills,
                slots=sorted(slots.slots),
                broker=stage.broker is not None,
            )
            strikes = Strikes(plan, slots, stage.broker, clock, restart=wishes.restart)
            async with self._telling(people, ended, strikes):
                await _together(people.chat(wishes.seconds), strikes.run(clock.now()))
            self._say("the faults are over; waiting until nothing goes on")
            await slots.all_ready(READY_WITHIN_S)
            left = await wait_for_rest(stage, people.asked, ended, REST_WITHIN_S)
            self._say("reading everything back")
            history = await read_back(
                stage,
                clock,
                at_rest=not left,
                late=self._late_s,
                dead=slots.dead,
                frozen=slots.frozen,
                away=strikes.away,
                events=[*people.events, *slots.events, *strikes.events],
            )
        (self._directory / HISTORY_FILE).write_bytes(pickle.dumps(history))
        return self._report(history, left, people, slots, strikes), history

    def _start_workers(self, slots: Slots) -> None:
        count = self._wishes.processes
        for number in range(count):
            for kind in KINDS:
                name = f"{kind}-{number}"
                environment = {**self._stage.environment, "ODRADEK_DISCORD_SHARDS": f"{number}/{count}"}
                if name in self._stage.provider_keys:
                    environment["ODRADEK_OPENAI_API_KEY"] = self._stage.provider_keys[name]
                slots.start(name, kind, environment)

    @contextlib.asynccontextmanager
    async def _telling(self, people: People, ended: EndedTurns, strikes: Strikes) -> AsyncGenerator[None]:
        """Say how it goes, and note how far behind this process is, which tells how busy the machine is."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(SAY_EVERY_S)
                self._say(f"{len(people.asked)} turns, {len(ended.turns)} ended, {len(strikes.kills)} kills")

        async def tick() -> None:
            loop = asyncio.get_running_loop()
            while True:
                due = loop.time() + _TICK_S
                await asyncio.sleep(_TICK_S)
                self._late_s = max(self._late_s, loop.time() - due)

        tasks = [asyncio.create_task(tell()), asyncio.create_task(tick())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    def _report(self, history: History, left: list[str], people: People, slots: Slots, strikes: Strikes) -> Report:
        self._say(f"checking {len(history.writes)} records, {len(history.calls)} calls, {len(history.shown)} messages")
        checked = check(history)
        index = Index(history)
        shown = texts_shown(index, people.asked.values())
        faults = Counter(fault.kind for fault in strikes.carried_out)
        settled = [replace(window, end=min(window.end, window.start + SETTLED_S)) for window in slots.dead]
        recovered = recoveries(index, strikes.kills, [*settled, *slots.frozen, *strikes.away], slots.startups)
        restless = [Violation(14, f"not at rest after {REST_WITHIN_S:g} s: {what}") for what in left]
        return Report(
            seed=self._wishes.seed,
            seconds=self._wishes.seconds,
            turns=len(people.asked),
            ended=shown.ended,
            lost=shown.lost,
            duplicated=shown.duplicated,
            calls=len(history.calls),
            calls_repeated=calls_repeated(index),
            kills=len(strikes.kills),
            faults=dict(faults),
            statuses=shown.statuses,
            fell=tuple(slots.fell),
            recovery_s=times([one.seconds for one in recovered]),
            recovery_alone_s=times([one.seconds for one in recovered if one.alone]),
            beyond_startup_s=times([one.seconds - one.startup_s for one in recovered if one.alone]),
            startup_s=times([one.end - one.start for one in slots.startups]),
            late_s=round(self._late_s, 3),
            at_rest=not left,
            skipped=tuple(number for number, _ in checked.skipped),
            violations=(*restless, *shown.wrong, *checked.violations),
        )


async def _together(*doing: Coroutine[None, None, None]) -> None:
    """Run all of them; what one raises ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in doing:
                group.create_task(one)
    except ExceptionGroup as failures:
        raise _first(failures) from failures


def _first(failures: "ExceptionGroup[Exception]") -> Exception:
    failure = failures.exceptions[0]
    return _first(cast("ExceptionGroup[Exception]", failure)) if isinstance(failure, ExceptionGroup) else failure
