"""The load: so many turns at once for so long, each channel with its next turn as soon as the one before is over."""

import asyncio
import contextlib
import math
import time
from dataclasses import dataclass

from services.sandbox.benchmark.crew import Crew
from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.quantiles import quantile
from services.sandbox.benchmark.replies import DELTAS_A_PARAGRAPH, PARAGRAPHS, make_reply
from services.sandbox.benchmark.runners import Runner, TurnHangs
from services.sandbox.benchmark.stage import Stage, Turn
from services.sandbox.benchmark.usage import Behind, LogWatch, cpu_s

DELTAS_A_TURN = DELTAS_A_PARAGRAPH * PARAGRAPHS
RAMP_S = 2.0
WARM_S = 4.0
LOOK_EVERY_S = 1.0
MOST_LATE_S = 0.25
GROWTH_S = 0.1
"""How much the median of the lag may grow over a run that counts as flat, and how much more may wait at its end."""

MOST_START_S = 2.0
"""From a message to its provider call; a turn that waits longer is not one of those at once."""

MOST_LAG_S = 1.0
"""The lag that 99 % of the segments must stay below in a run that holds."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One segment. `lag_s`: from the byte that completes it to its request at Discord."""

    turn: int
    paragraph: int
    wrote_s: float
    lag_s: float


@dataclass(frozen=True, slots=True)
class Level:
    """What a load came to in its measured part.

    `turn_equivalents`: deltas written over deltas a turn. `broken`: turns that did not show every paragraph in order.
    `start_s`: from a message, or an order, to the provider call of its turn.
    """

    turns_at_once: int
    rate: float
    seconds: float
    samples: tuple[Sample, ...]
    turn_equivalents: float
    turns_over: int
    broken: int
    start_s: tuple[float, ...]
    provider_late_s: float
    cpu_s: dict[str, float]
    records: dict[str, int]
    waiting: tuple[int, ...]

    def why_not_flat(self) -> str | None:
        """Why this load does not hold; None where it does."""
        if self.broken:
            return f"{self.broken} turns did not show their whole text"
        if self.provider_late_s > MOST_LATE_S:
            return f"the provider of the benchmark came {self.provider_late_s * 1000:.0f} ms behind its pace"
        if self.start_s and quantile(self.start_s, 0.9) > MOST_START_S:
            return f"a tenth of the turns began over {MOST_START_S:g} s late"
        third = self.seconds / 3
        begin = min((sample.wrote_s for sample in self.samples), default=0.0)
        early = [s.lag_s for s in self.samples if s.wrote_s < begin + third]
        late = [s.lag_s for s in self.samples if s.wrote_s >= begin + 2 * third]
        if not early or not late:
            return "too few segments were shown"
        if quantile([s.lag_s for s in self.samples], 0.99) > MOST_LAG_S:
            return f"1 % of the segments came over {MOST_LAG_S:g} s late"
        grown_s = quantile(late, 0.5) - quantile(early, 0.5)
        if grown_s > GROWTH_S:
            return f"the lag grew by {grown_s * 1000:.0f} ms"
        if self.waiting:
            part = math.ceil(len(self.waiting) / 3)
            grown = sum(self.waiting[-part:]) / part - sum(self.waiting[:part]) / part
            if grown > sum(self.records.values()) / self.seconds * GROWTH_S:
                return f"the records that wait grew by {grown:.0f}"
        return None


async def run_load(
    stage: Stage,
    runner: Runner,
    *,
    turns: int,
    rate: float,
    seconds: float,
    crew: Crew | None = None,
    watch: LogWatch | None = None,
    spread: bool = False,
) -> Level:
    """Keep `turns` turns going with `rate` deltas a second each, and measure `seconds` of it after a warm-up.

    `spread`: the channels lie evenly in the partitions, instead of by chance. Raises TurnHangs.
    """
    try:
        return await _Load(stage, runner, turns, rate, seconds, spread=spread).run(crew, watch)
    except BaseExceptionGroup as several:
        hanging = several.subgroup(TurnHangs)
        if hanging is None:
            raise
        raise hanging.exceptions[0] from None


class _Load:
    def __init__(self, stage: Stage, runner: Runner, turns: int, rate: float, seconds: float, *, spread: bool) -> None:
        self._stage = stage
        self._spread = spread
        self._runner = runner
        self._turns = turns
        self._rate = rate
        self._seconds = seconds
        self._measuring = False
        self._ended = False
        self._over: list[tuple[str, Turn]] = []
        self._running = 0

    async def run(self, crew: Crew | None, watch: LogWatch | None) -> Level:
        async with asyncio.TaskGroup() as group:
            keeping = [group.create_task(self._keep(number)) for number in range(self._turns)]
            await asyncio.sleep(RAMP_S + WARM_S)
            provider = self._stage.provider
            provider.latest_s = 0.0
            began_s, deltas = time.monotonic(), provider.deltas
            cpu = {} if crew is None else cpu_s(crew)
            first = None if watch is None else await watch.look()
            looks: list[Behind] = []
            while (left_s := began_s + self._seconds - time.monotonic()) > 0:
                await asyncio.sleep(min(left_s, LOOK_EVERY_S))
                if watch is not None:
                    looks.append(await watch.look())
            until_s = time.monotonic()
            used = {} if crew is None else {kind: value - cpu[kind] for kind, value in cpu_s(crew).items()}
            deltas = provider.deltas - deltas
            late_s = provider.latest_s
            self._ended = True
            await asyncio.wait(keeping)
        written = {} if first is None else {t: n - first.written[t] for t, n in looks[-1].written.items()}
        samples = tuple(
            sample for _, turn in self._over for sample in _samples(turn) if began_s <= sample.wrote_s < until_s
        )
        starts = tuple(
            turn.call.arrived_s - turn.asked_s
            for _, turn in self._over
            if turn.call is not None and began_s <= turn.call.arrived_s < until_s
        )
        broken = sum(not turn.whole for _, turn in self._over)
        for turn_id, _ in self._over:
            self._stage.forget(turn_id)
        return Level(
            turns_at_once=self._turns,
            rate=self._rate,
            seconds=until_s - began_s,
            samples=samples,
            turn_equivalents=deltas / DELTAS_A_TURN,
            turns_over=len(self._over),
            broken=broken,
            start_s=starts,
            provider_late_s=late_s,
            cpu_s=used,
            records=written,
            waiting=tuple(look.all_waiting for look in looks),
        )

    async def _keep(self, number: int) -> None:
        """Turn after turn in one channel; the first ones are cut, so that the ends of turns are spread in time."""
        channel, user = self._stage.add_channel(place(number, self._stage.partitions) if self._spread else None)
        await asyncio.sleep(RAMP_S * number / self._turns)
        paragraphs = 1 + number * PARAGRAPHS // self._turns
        while not self._ended:
            reply = make_reply(self._stage.next_number(), paragraphs=paragraphs)
            self._over.append(await self._runner.run(channel, user, Plan(reply, 1 / self._rate)))
            paragraphs = PARAGRAPHS
        with contextlib.suppress(LookupError):
            self._stage.discord.world.delete_channel(channel)


def place(number: int, partitions: int) -> int:
    """The partition of the channel `number`, so that any run of numbers is even over neighbours as well as over residues."""
    stride = next(n for n in range(max(1, partitions * 7 // 16), partitions + 2) if math.gcd(n, partitions) == 1)
    return number * stride % partitions


def _samples(turn: Turn) -> list[Sample]:
    if turn.call is None:
        return []
    found: list[Sample] = []
    for shown in turn.shown:
        if shown.label is not None and shown.label[1] in turn.call.wrote:
            number, paragraph = shown.label
            wrote_s = turn.call.wrote[paragraph]
            found.append(Sample(number, paragraph, wrote_s, shown.at_s - wrote_s))
    return found
