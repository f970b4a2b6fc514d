"""`bench turns`: the pipeline beside its reference, the stop races, and the search for the most turns at once."""

from dataclasses import dataclass

from services.sandbox.benchmark.crew import KINDS, Crew
from services.sandbox.benchmark.load import DELTAS_A_TURN, Level, Sample, run_load
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.quantiles import Quantiles, in_ms, quantile
from services.sandbox.benchmark.races import RaceRow, Races
from services.sandbox.benchmark.replies import PARAGRAPHS
from services.sandbox.benchmark.runners import Pipeline, open_reference
from services.sandbox.benchmark.search import Tried, search_highest
from services.sandbox.benchmark.stage import Say, Stage
from services.sandbox.benchmark.usage import LogWatch


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for. `seconds`: how long each load is measured. `most`: the upper bound of the search."""

    turns: int
    rate: float
    seconds: float
    races: int
    most: int
    search: bool


@dataclass(frozen=True, slots=True)
class TurnsReport:
    """The result, times in ms.

    `added_latency_ms`: from the provider's byte that completes a segment to Discord's request that shows it, less the
    median of the same in the reference, which ran with the same number of turns in the same run;
    `first_token_added_ms` is that of each turn's first segment. `stop_to_closed_ms` is over all races in which a
    connection was open. `cpu_ms_per_turn` is of the workers' processes alone, for a turn of `deltas_a_turn` deltas.
    """

    command: str
    machine: Machine
    broker: str
    partitions: int
    discord: str
    dialect: str
    processes: dict[str, int]
    turns: int
    rate: float
    seconds: float
    deltas_a_turn: int
    segments_a_turn: int
    added_latency_ms: Quantiles
    first_token_added_ms: Quantiles
    pipeline_ms: Quantiles
    pipeline_first_ms: Quantiles
    reference_ms: Quantiles
    reference_first_ms: Quantiles
    provider_late_ms: float
    not_flat: str | None
    cpu_ms_per_turn: float
    cpu_ms_per_turn_of: dict[str, float]
    cores_used: float
    records_per_turn: float
    records_per_turn_of: dict[str, float]
    stop_to_closed_ms: Quantiles
    stop_races: tuple[RaceRow, ...]
    max_turns: int | None
    search: tuple[Tried, ...]


DISCORD = "the sandbox's Discord (REST and gateway, rate limits off); every turn enters through the gateway"


async def measure_turns(stage: Stage, crew: Crew, wishes: Wishes, *, command: str, say: Say) -> TurnsReport:
    """The whole benchmark on a running stage; raises TurnHangs where a turn does not come to its end."""
    machine = this_machine()
    say("starting one process of each kind")
    for kind in KINDS:
        await crew.start(kind, 1, stage.environment)
    processes = {kind: len(crew.members(kind)) for kind in KINDS}
    watch = LogWatch(stage.settings, stage.partitions, crew)
    await watch.start()
    try:
        say(f"the reference: {wishes.turns} turns at once for {wishes.seconds:g} s")
        async with open_reference(stage) as reference:
            without = await run_load(stage, reference, turns=wishes.turns, rate=wishes.rate, seconds=wishes.seconds)
        say(f"the pipeline: {wishes.turns} turns at once for {wishes.seconds:g} s")
        level = await _load(stage, crew, watch, wishes, wishes.turns)
        highest, tried = None, ()
        if wishes.search:
            highest, tried = await _search(stage, crew, watch, wishes, level, say)
        rows, stopped = await Races(stage, crew, wishes.races, say).run() if wishes.races else ((), ())
    finally:
        await watch.stop()
    per_turn = level.turn_equivalents
    cpu = {kind: round(used / per_turn * 1000, 1) for kind, used in level.cpu_s.items()}
    records = {topic: round(count / per_turn, 1) for topic, count in level.records.items() if count}
    return TurnsReport(
        command=command,
        machine=machine,
        broker=stage.broker,
        partitions=stage.partitions,
        discord=DISCORD,
        dialect=stage.settings.dialect,
        processes=processes,
        turns=wishes.turns,
        rate=wishes.rate,
        seconds=wishes.seconds,
        deltas_a_turn=DELTAS_A_TURN,
        segments_a_turn=PARAGRAPHS,
        added_latency_ms=_added(level.samples, without.samples),
        first_token_added_ms=_added(_firsts(level.samples), _firsts(without.samples)),
        pipeline_ms=_lags(level.samples),
        pipeline_first_ms=_lags(_firsts(level.samples)),
        reference_ms=_lags(without.samples),
        reference_first_ms=_lags(_firsts(without.samples)),
        provider_late_ms=round(level.provider_late_s * 1000, 1),
        not_flat=level.why_not_flat(),
        cpu_ms_per_turn=round(sum(cpu.values()), 1),
        cpu_ms_per_turn_of=cpu,
        cores_used=round(sum(level.cpu_s.values()) / level.seconds, 2),
        records_per_turn=round(sum(records.values()), 1),
        records_per_turn_of=records,
        stop_to_closed_ms=in_ms([one.closed_s for one in stopped if one.closed_s is not None]),
        stop_races=rows,
        max_turns=highest,
        search=tried,
    )


async def _load(stage: Stage, crew: Crew, watch: LogWatch, wishes: Wishes, turns: int) -> Level:
    return await run_load(
        stage, Pipeline(stage), turns=turns, rate=wishes.rate, seconds=wishes.seconds, crew=crew, watch=watch
    )


async def _search(
    stage: Stage, crew: Crew, watch: LogWatch, wishes: Wishes, known: Level, say: Say
) -> tuple[int, tuple[Tried, ...]]:
    async def holds(turns: int) -> str | None:
        level = known if turns == known.turns_at_once else await _load(stage, crew, watch, wishes, turns)
        why = level.why_not_flat()
        say(f"{turns} turns at once: {'flat' if why is None else why}; lag {_lags(level.samples)}")
        return why

    return await search_highest(holds, first=wishes.turns, most=wishes.most)


def _firsts(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    return tuple(sample for sample in samples if sample.paragraph == 0)


def _lags(samples: tuple[Sample, ...]) -> Quantiles:
    return in_ms([sample.lag_s for sample in samples])


def _added(samples: tuple[Sample, ...], reference: tuple[Sample, ...]) -> Quantiles:
    """Each segment's lag less the reference's median: its slow ones do not excuse ours."""
    if not reference:
        return in_ms([])
    base_s = quantile([sample.lag_s for sample in reference], 0.5)
    return in_ms([sample.lag_s - base_s for sample in samples])
