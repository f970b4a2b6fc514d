"""`bench scale`: turns at once with 1, 2 and 4 processes of a kind, each held to a share of a core and to some streams."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from services.sandbox.benchmark.crew import KINDS, Crew
from services.sandbox.benchmark.load import DELTAS_A_TURN, run_load
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.quantiles import Quantiles, in_ms
from services.sandbox.benchmark.runners import Pipeline
from services.sandbox.benchmark.search import Tried, search_highest
from services.sandbox.benchmark.stage import Say, Stage
from services.sandbox.benchmark.throttle import capped
from services.sandbox.benchmark.turns import DISCORD
from services.sandbox.benchmark.usage import LogWatch

PROCESSES = (1, 2, 4)

Open = Callable[[], AbstractAsyncContextManager[tuple[Stage, Crew]]]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for. `share`: of a core for each process of `kind`. `streams`: of each provider process."""

    kind: str
    share: float
    streams: int
    rate: float
    seconds: float
    most: int


@dataclass(frozen=True, slots=True)
class Step:
    """The highest number of turns at once that so many processes held, with its lag in ms."""

    processes: int
    max_turns: int
    times_one: float | None
    lag_ms: Quantiles
    search: tuple[Tried, ...]


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """The result. `others`: processes of each other kind, which are not capped."""

    command: str
    machine: Machine
    broker: str
    partitions: int
    discord: str
    dialect: str
    kind: str
    share_of_a_core: float
    streams_a_process: int
    others: Mapping[str, int]
    rate: float
    seconds: float
    deltas_a_turn: int
    steps: tuple[Step, ...]


async def measure_scale(open_stage: Open, wishes: Wishes, *, command: str, say: Say) -> ScaleReport:
    """The whole benchmark, on a fresh stage for each number of processes; raises TurnHangs."""
    machine = this_machine()
    steps: list[Step] = []
    broker, partitions, dialect = "", 0, ""
    for processes in PROCESSES:
        async with open_stage() as (stage, crew):
            broker, partitions, dialect = stage.broker, stage.partitions, stage.settings.dialect
            step = await _step(stage, crew, wishes, processes, steps[0].max_turns if steps else None, say)
        steps.append(step)
    return ScaleReport(
        command=command,
        machine=machine,
        broker=broker,
        partitions=partitions,
        discord=DISCORD,
        dialect=dialect,
        kind=wishes.kind,
        share_of_a_core=wishes.share,
        streams_a_process=wishes.streams,
        others={kind: 1 for kind in KINDS if kind != wishes.kind},
        rate=wishes.rate,
        seconds=wishes.seconds,
        deltas_a_turn=DELTAS_A_TURN,
        steps=tuple(steps),
    )


async def _step(stage: Stage, crew: Crew, wishes: Wishes, processes: int, of_one: int | None, say: Say) -> Step:
    say(f"{processes} x {wishes.kind}")
    environment = {**stage.environment, "ODRADEK_MAX_STREAMS": str(wishes.streams)}
    for kind in KINDS:
        await crew.start(kind, processes if kind == wishes.kind else 1, environment)
    watch = LogWatch(stage.settings, stage.partitions, crew)
    await watch.start()
    lags: dict[int, Quantiles] = {}

    async def holds(turns: int) -> str | None:
        level = await run_load(
            stage,
            Pipeline(stage),
            turns=turns,
            rate=wishes.rate,
            seconds=wishes.seconds,
            crew=crew,
            watch=watch,
            spread=True,
        )
        why = level.why_not_flat()
        lags[turns] = in_ms([sample.lag_s for sample in level.samples])
        say(f"{processes} x {wishes.kind}, {turns} turns at once: {'flat' if why is None else why}; lag {lags[turns]}")
        return why

    try:
        async with capped(lambda: crew.members(wishes.kind), wishes.share):
            first = 4 if of_one is None else max(4, of_one * processes // 2)
            highest, tried = await search_highest(holds, first=first, most=wishes.most)
    finally:
        await watch.stop()
    return Step(
        processes=processes,
        max_turns=highest,
        times_one=round(highest / of_one, 2) if of_one else None,
        lag_ms=lags.get(highest, in_ms([])),
        search=tried,
    )
