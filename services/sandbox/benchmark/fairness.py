"""`bench fairness`: how long the other channels wait for their first text beside a hostile one, and without it.

Quiet and hostile phases alternate, so that what else the machine does hits both.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from services.sandbox.benchmark.crew import KINDS, Crew
from services.sandbox.benchmark.hostile import HOSTILITIES, Hostility, raging
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.neighbours import Neighbour, Waited, ask_for, settle_in
from services.sandbox.benchmark.quantiles import quantile
from services.sandbox.benchmark.stage import Say, Stage
from services.sandbox.benchmark.usage import LogWatch

HOSTILE_PARTITION = 0
WARM_S = 4.0
LOOK_EVERY_S = 0.5
CALM_WITHIN_S = 120.0
MOST_RATIO = 1.2
DISCORD = "the sandbox's Discord (REST and gateway), its rate limits on; every turn enters through the gateway"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for. `seconds` of each phase; `rounds`: how many quiet and hostile phases a hostility has."""

    channels: int
    rounds: int
    seconds: float
    every_s: float
    first_byte_s: float
    only: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """From message to first visible text, ms; None where there were no turns."""

    turns: int
    p50: float | None
    p95: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Ratios:
    """Hostile over quiet."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class HostilityRow:
    """One hostility. `within_20_percent`: neither p50 nor p95 grew by more than a fifth.

    `calm_s`: the longest until no worker came forward with anything any more, after the end of a hostile phase.
    """

    hostility: str
    what: str
    hostile_messages: int
    quiet_ms: Waits
    hostile_ms: Waits
    ratio: Ratios
    ratio_p50_of: dict[str, float | None]
    within_20_percent: bool
    calm_s: float


@dataclass(frozen=True, slots=True)
class FairnessReport:
    """The result, times in ms."""

    command: str
    machine: Machine
    broker: str
    partitions: int
    discord: str
    dialect: str
    processes: dict[str, int]
    channels: int
    channels_of: dict[str, int]
    rounds: int
    seconds: float
    every_s: float
    provider_first_byte_ms: float
    hostilities: tuple[HostilityRow, ...]


async def measure_fairness(stage: Stage, crew: Crew, wishes: Wishes, *, command: str, say: Say) -> FairnessReport:
    """The whole benchmark on a running stage; raises TurnHangs where a turn does not come to its end."""
    machine = this_machine()
    say("starting one process of each kind")
    for kind in KINDS:
        await crew.start(kind, 1, stage.environment)
    world = stage.discord.world
    neighbours = settle_in(stage, wishes.channels, partition=HOSTILE_PARTITION, guild=world.first_guild)
    watch = LogWatch(stage.settings, stage.partitions, crew)
    await watch.start()
    bench = _Fairness(stage, neighbours, watch, wishes, say)
    try:
        await bench.ask(WARM_S)
        rows = [await bench.measure(one) for one in HOSTILITIES if not wishes.only or one.name in wishes.only]
    finally:
        await watch.stop()
    places = [one.place for one in neighbours]
    return FairnessReport(
        command=command,
        machine=machine,
        broker=stage.broker,
        partitions=stage.partitions,
        discord=DISCORD,
        dialect=stage.settings.dialect,
        processes={kind: len(crew.members(kind)) for kind in KINDS},
        channels=wishes.channels,
        channels_of={place: places.count(place) for place in dict.fromkeys(places)},
        rounds=wishes.rounds,
        seconds=wishes.seconds,
        every_s=wishes.every_s,
        provider_first_byte_ms=wishes.first_byte_s * 1000,
        hostilities=tuple(rows),
    )


class _Fairness:
    def __init__(
        self, stage: Stage, neighbours: Sequence[Neighbour], watch: LogWatch, wishes: Wishes, say: Say
    ) -> None:
        self._stage = stage
        self._neighbours = neighbours
        self._watch = watch
        self._wishes = wishes
        self._say = say

    async def ask(self, seconds: float) -> list[Waited]:
        wishes = self._wishes
        return await ask_for(
            self._stage, self._neighbours, seconds=seconds, every_s=wishes.every_s, first_byte_s=wishes.first_byte_s
        )

    async def measure(self, hostility: Hostility) -> HostilityRow:
        wishes = self._wishes
        quiet: list[Waited] = []
        beside: list[Waited] = []
        posted, calm_s = 0, 0.0
        for number in range(wishes.rounds):
            self._say(f"{hostility.name}: round {number + 1} of {wishes.rounds}")
            quiet += await self.ask(wishes.seconds)
            async with raging(
                self._stage,
                hostility,
                partition=HOSTILE_PARTITION,
                guild=self._stage.discord.world.first_guild,
                first_byte_s=wishes.first_byte_s,
            ) as hostile:
                beside += await self.ask(wishes.seconds)
            calm_s = max(calm_s, await self._calm())
            posted += hostile.posted
            hostile.forget()
        row = compare(hostility, quiet, beside, posted, calm_s)
        self._say(f"{hostility.name}: quiet {row.quiet_ms}, hostile {row.hostile_ms}, calm after {calm_s:.1f} s")
        return row

    async def _calm(self) -> float:
        """Wait until what waits in the workers does not change any more; returns how long that took."""
        began_s = time.monotonic()
        before = None
        while time.monotonic() - began_s < CALM_WITHIN_S:
            look = await self._watch.look()
            if look == before:
                break
            before = look
            await asyncio.sleep(LOOK_EVERY_S)
        return time.monotonic() - began_s


def compare(
    hostility: Hostility, quiet: Sequence[Waited], beside: Sequence[Waited], posted: int, calm_s: float
) -> HostilityRow:
    """What the turns of the quiet phases and those beside the hostile channel come to."""
    before, after = _waits(quiet), _waits(beside)
    ratio = Ratios(_over(after.p50, before.p50), _over(after.p95, before.p95))
    places = dict.fromkeys(one.place for one in (*quiet, *beside))
    return HostilityRow(
        hostility=hostility.name,
        what=hostility.what,
        hostile_messages=posted,
        quiet_ms=before,
        hostile_ms=after,
        ratio=ratio,
        ratio_p50_of={
            place: _over(
                _waits([one for one in beside if one.place == place]).p50,
                _waits([one for one in quiet if one.place == place]).p50,
            )
            for place in places
        },
        within_20_percent=all(one is not None and one <= MOST_RATIO for one in (ratio.p50, ratio.p95)),
        calm_s=round(calm_s, 1),
    )


def _waits(turns: Sequence[Waited]) -> Waits:
    if not turns:
        return Waits(0, None, None, None)
    seconds = [turn.first_text_s for turn in turns]
    p50, p95, most = (
        round(value * 1000, 1) for value in (quantile(seconds, 0.5), quantile(seconds, 0.95), max(seconds))
    )
    return Waits(len(seconds), p50, p95, most)


def _over(hostile: float | None, quiet: float | None) -> float | None:
    return None if hostile is None or not quiet else round(hostile / quiet, 3)
