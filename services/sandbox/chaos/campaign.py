"""One run from its start to its verdict, whatever its scenario."""

import asyncio
import contextlib
import pickle
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.figures import Times, calls_repeated, texts_shown, times
from services.sandbox.chaos.log_lines import LogLines, log_lines, read_logs
from services.sandbox.chaos.reading_back import read_back
from services.sandbox.chaos.recovery import recoveries
from services.sandbox.chaos.rest import EndedTurns, wait_for_rest
from services.sandbox.chaos.scenarios.scenario import Figures, Run, Scenario
from services.sandbox.chaos.scenarios.table import SCENARIOS
from services.sandbox.chaos.slots import KINDS, Slots
from services.sandbox.chaos.stage import Stage, open_stage
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.checks import check
from services.sandbox.checking.history import History, Violation
from services.sandbox.checking.index import Index

Say = Callable[[str], None]
READY_WITHIN_S = 120.0
REST_WITHIN_S = 120.0
END_WITHIN_S = 6.0
SETTLED_S = 10.0
"""A process that stays away disturbs nobody after so long: others have taken over for it."""

SAY_EVERY_S = 10.0
HISTORY_FILE = "history.pickle"
_TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict. Times are seconds. `recovery_s`: of kills that hit a turn in progress; `recovery_alone_s`: of those
    among them that no other fault overlapped, and `beyond_startup_s` that without the start-up of the process that came
    back. `late_s`: the longest that this process itself was held up. `failures`: what is wrong beside the violations.
    `own`: the scenario's figures, None where it has none.
    """

    scenario: str
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
    log_lines: LogLines
    late_s: float
    at_rest: bool
    skipped: tuple[int, ...]
    failures: tuple[str, ...]
    violations: tuple[Violation, ...]
    own: Figures | None

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.violations and not self.failures


async def run_campaign(wishes: Wishes, directory: Path, say: Say) -> tuple[Report, History]:
    """Play one run; `directory` gets the logs of all processes, and at the end the history."""
    scene = SCENARIOS[wishes.scenario].scene(wishes)
    async with open_stage(
        directory, scene, kafka=wishes.kafka, processes=wishes.processes, partitions=wishes.partitions, say=say
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
            scenario = SCENARIOS[wishes.scenario].make(Run(wishes, stage, slots, ended, clock, self._say))
            async with self._telling(scenario, ended):
                await scenario.play()
            self._say("the faults are over; waiting until nothing goes on")
            await slots.all_ready(READY_WITHIN_S)
            left = await wait_for_rest(stage, scenario.crowd.asked, ended, REST_WITHIN_S)
            ran_s = clock.now()
            self._say("reading everything back")
            history = await read_back(
                stage,
                clock,
                self._directory,
                at_rest=not left,
                late=self._late_s,
                dead=slots.dead,
                frozen=slots.frozen,
                away=scenario.struck.away,
                events=[*scenario.crowd.events, *slots.events, *scenario.struck.events],
            )
        (self._directory / HISTORY_FILE).write_bytes(pickle.dumps(history))
        return self._report(history, left, scenario, slots, ran_s), history

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
    async def _telling(self, scenario: Scenario, ended: EndedTurns) -> AsyncGenerator[None]:
        """Say how it goes, and note how far behind this process is, which tells how busy the machine is."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(SAY_EVERY_S)
                faults = scenario.struck.faults.total()
                self._say(f"{len(scenario.crowd.asked)} turns, {len(ended.turns)} ended, {faults} faults")

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

    def _report(self, history: History, left: list[str], scenario: Scenario, slots: Slots, ran_s: float) -> Report:
        self._say(f"checking {len(history.writes)} records, {len(history.calls)} calls, {len(history.shown)} messages")
        checked = check(history)
        index = Index(history)
        struck = scenario.struck
        shown = texts_shown(index, scenario.crowd.asked.values(), self._stage.scene.model)
        settled = [replace(window, end=min(window.end, window.start + SETTLED_S)) for window in slots.dead]
        recovered = recoveries(index, struck.kills, [*settled, *slots.frozen, *struck.away], slots.startups)
        restless = [Violation(14, f"not at rest after {REST_WITHIN_S:g} s: {what}") for what in left]
        own = scenario.figures(index)
        fallen = [f"{what} ended though nobody told it to" for what in slots.fell]
        return Report(
            scenario=self._wishes.scenario,
            seed=self._wishes.seed,
            seconds=self._wishes.seconds,
            turns=len(scenario.crowd.asked),
            ended=shown.ended,
            lost=shown.lost,
            duplicated=shown.duplicated,
            calls=len(history.calls),
            calls_repeated=calls_repeated(index),
            kills=len(struck.kills),
            faults=dict(struck.faults),
            statuses=shown.statuses,
            fell=tuple(slots.fell),
            recovery_s=times([one.seconds for one in recovered]),
            recovery_alone_s=times([one.seconds for one in recovered if one.alone]),
            beyond_startup_s=times([one.seconds - one.startup_s for one in recovered if one.alone]),
            startup_s=times([one.end - one.start for one in slots.startups]),
            log_lines=log_lines(read_logs(self._directory, slots.slots), ran_s),
            late_s=round(self._late_s, 3),
            at_rest=not left,
            skipped=tuple(number for number, _ in checked.skipped),
            failures=(*fallen, *(own.failures if own is not None else ())),
            violations=(*restless, *shown.wrong, *checked.violations),
            own=own,
        )
