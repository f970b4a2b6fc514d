"""`soak`: turns for a long time, while one process of each kind is killed again and again; the others must stay level."""

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import asdict

from services.sandbox.chaos.scenarios.scenario import Figures, Kind, Run, together
from services.sandbox.chaos.scenarios.streaming import StreamingCrowd
from services.sandbox.chaos.slots import Slot
from services.sandbox.chaos.stage import Scene
from services.sandbox.chaos.strikes import Kill, Struck
from services.sandbox.chaos.vitals import Level, Vitals, level, sample
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.index import Index
from services.sandbox.provider.script import EveryBytes, Script, Stream

TURNS = 30
SURVIVES = "-0"
WRITE_BYTES = 4_000
WRITE_EVERY_MS = 500.0
"""A reply is some 120 kB of events, so it streams for about a quarter of a minute."""

SPREAD_S = 15.0
SAMPLE_EVERY_S = 5.0
READY_WITHIN_S = 120.0
SETTLED_WITHIN_S = 30.0


class Soak:
    """Number 0 of each kind lives through it; the others are killed in turn."""

    def __init__(self, run: Run) -> None:
        self.crowd = StreamingCrowd(run, SPREAD_S)
        self.struck = Struck()
        self._run = run
        slots = sorted(run.slots.slots.values(), key=lambda slot: slot.name)
        self._watched = [slot for slot in slots if slot.name.endswith(SURVIVES)]
        self._victims = [slot for slot in slots if not slot.name.endswith(SURVIVES)]
        self._samples: dict[str, list[Vitals]] = {slot.name: [] for slot in self._watched}
        self._last: dict[str, Vitals] = {}
        run.stage.provider.enqueue(Script(Stream(pace_ms=WRITE_EVERY_MS, cuts=EveryBytes(WRITE_BYTES)), times=None))

    async def play(self) -> None:
        """Chat, kill and sample for as long as was asked for; then wait until the survivors hold nothing any more."""
        await together(self.crowd.chat(), self._kill_and_sample())
        loop = asyncio.get_running_loop()
        until = loop.time() + SETTLED_WITHIN_S
        while True:
            for slot in self._watched:
                found = await self._sample(slot)
                if found is not None:
                    self._last[slot.name] = found
            if loop.time() > until or not any(one.claims or one.unfinished for one in self._last.values()):
                return
            await asyncio.sleep(1.0)

    async def _kill_and_sample(self) -> None:
        async def for_the_time() -> None:
            await asyncio.sleep(self._run.wishes.seconds)
            self.crowd.go_home()

        sampling = asyncio.create_task(self._sample_regularly())
        try:
            await together(for_the_time(), self._kill_in_turn())
        finally:
            sampling.cancel()
            await asyncio.wait({sampling})

    async def _kill_in_turn(self) -> None:
        run, clock = self._run, self._run.clock
        start, every_s = clock.now(), run.wishes.seconds / (run.wishes.kills + 1)
        for number in range(run.wishes.kills if self._victims else 0):
            await asyncio.sleep(max(0.0, start + (number + 1) * every_s - clock.now()))
            slot = self._victims[number % len(self._victims)]
            async with asyncio.timeout(READY_WITHIN_S):
                await slot.ready.wait()
            self.struck.kills.append(Kill(slot.name, slot.kind, clock.now()))
            self.struck.faults["sigkill"] += 1
            run.slots.send(slot, signal.SIGKILL)

    async def _sample_regularly(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_EVERY_S)
            for slot in self._watched:
                found = await self._sample(slot)
                if found is not None:
                    self._samples[slot.name].append(found)

    async def _sample(self, slot: Slot) -> Vitals | None:
        return None if slot.process is None else await sample(slot.process.pid, slot.port, self._run.clock.now())

    def figures(self, index: Index) -> Figures | None:
        """What each survivor took and held."""
        levels = {
            name: level(samples, self._last[name]) for name, samples in self._samples.items() if name in self._last
        }
        report = {name: None if one is None else asdict(one) for name, one in levels.items()}
        return Figures(report, tuple(_lines(levels)), tuple(_failures(levels)))


def _lines(levels: dict[str, Level | None]) -> Iterator[str]:
    for name, one in levels.items():
        if one is not None:
            yield (
                f"{name:<20}{one.rss_mb[0]:.0f} then {one.rss_mb[1]:.0f} MiB ({one.rss_growth:+.1%}), "
                f"{one.descriptors[0]:g} then {one.descriptors[1]:g} descriptors, "
                f"at the end {_held(one.claims_at_end)} claims, {_held(one.unfinished_at_end)} unfinished records"
            )


def _failures(levels: dict[str, Level | None]) -> Iterator[str]:
    for name, one in levels.items():
        if one is None:
            yield f"{name} was sampled too seldom to judge it"
        else:
            yield from (f"{name}: {failure}" for failure in one.failures)


def _held(count: int | None) -> str:
    return "-" if count is None else str(count)


def scene(wishes: Wishes) -> Scene:
    """A channel for each turn."""
    return Scene(channels=wishes.turns or TURNS)


SOAK = Kind("turns for a long time under kills; the survivors' memory and descriptors must stay level", scene, Soak)
