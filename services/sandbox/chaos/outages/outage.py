"""The scenario of every outage: twenty turns stream, what they depend on goes away for a while, and comes back."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.sandbox.chaos.outages.crowd import OutageCrowd
from services.sandbox.chaos.outages.lines import volume
from services.sandbox.chaos.outages.verdict import Seen, judge
from services.sandbox.chaos.outages.watch import Watch, count_found, health, memory
from services.sandbox.chaos.scenarios.scenario import Figures, Kind, Run
from services.sandbox.chaos.slots import Window
from services.sandbox.chaos.stage import Scene, Stage
from services.sandbox.chaos.strikes import Struck
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.index import Index

TURNS = 20
CALM_S = 5.0
READY_AGAIN_WITHIN_S = 180.0
STEADY_S = 3.0
_LOOK_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Outage:
    """What goes away and how. `tells`: the kinds of workers whose /readyz must tell of it.

    `begin` and `end` may take a while, which counts as a part of the outage. `broker`: whether nobody is served by Kafka
    meanwhile.
    """

    name: str
    about: str
    away_s: float
    begin: Callable[[Stage], Awaitable[None]]
    end: Callable[[Stage], Awaitable[None]]
    tells: frozenset[str]
    broker: bool
    disk_mib: int | None = None
    two_brokers: bool = False

    def kind(self) -> Kind:
        """The row of the table of scenarios."""
        return Kind(self.about, self._scene, lambda run: OutageScenario(run, self))

    def _scene(self, wishes: Wishes) -> Scene:
        return Scene(channels=wishes.turns or TURNS, disk_mib=self.disk_mib, two_brokers=self.two_brokers)


class OutageScenario:
    """One outage in one run."""

    def __init__(self, run: Run, outage: Outage) -> None:
        self.crowd = OutageCrowd(run)
        self.struck = Struck()
        self._run = run
        self._outage = outage
        self._away = Window(outage.name, float("inf"))
        self._open: frozenset[str] = frozenset()
        self._found = 0
        self._watch = Watch(run.slots, run.clock)

    async def play(self) -> None:
        """Ask, wait until all stream, take away, give back, and wait until all processes are ready again."""
        watching = asyncio.create_task(self._watch.run(), name="watch")
        try:
            await asyncio.sleep(STEADY_S)
            self.crowd.ask_everywhere()
            await self.crowd.all_stream()
            await self._be_away()
            await self._ready_again()
            self._found = await count_found(self._run.slots)
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _be_away(self) -> None:
        run, outage, away = self._run, self._outage, self._away
        seconds = run.wishes.away_s or outage.away_s
        away.start = run.clock.now()
        self._open = frozenset(self.crowd.asked) - run.ended.turns
        self.struck.faults[outage.name] += 1
        if outage.broker:
            self.struck.away.append(away)
        self._note(f"{outage.name} begins, for {seconds:g} s; {len(self._open)} turns are open")
        await outage.begin(run.stage)
        await asyncio.sleep(seconds / 2)
        self.crowd.ask_meanwhile()
        await asyncio.sleep(seconds / 2)
        await outage.end(run.stage)
        away.end = run.clock.now()
        self._note(f"{outage.name} ends")

    async def _ready_again(self) -> None:
        """Wait until every process is ready and has been so for a while; gives up after READY_AGAIN_WITHIN_S."""
        run = self._run
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_AGAIN_WITHIN_S):
                while True:
                    last = self._watch.between(run.clock.now() - CALM_S, float("inf"))
                    if run.clock.now() - self._away.end > CALM_S and all(one.missing is None for one in last):
                        return
                    await asyncio.sleep(_LOOK_EVERY_S)

    def _note(self, what: str) -> None:
        self._run.say(what)
        self.struck.events.append((self._run.clock.now(), what))

    def figures(self, index: Index) -> Figures:
        """How soon the turns went on, what the processes wrote, held and told meanwhile."""
        slots = self._run.slots.slots
        kinds = {name: slot.kind for name, slot in slots.items()}
        start, end = self._away.start, self._away.end
        seen = Seen(
            away_s=end - start,
            open=self._open,
            asked=frozenset(self.crowd.asked),
            end=end,
            log=volume({name: slot.log for name, slot in slots.items()}, self._run.clock, start, end),
            health=health(self._watch, kinds, start, end),
            memory=memory(self._watch, start),
            tells=self._outage.tells,
            found=self._found,
        )
        return judge(seen, index)
