"""Carries a plan of faults out: each strikes at its time, and what it hits is noted."""

import asyncio
import contextlib
import signal
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.plan import Fault
from services.sandbox.chaos.slots import Slot, Slots, Window

READY_WITHIN_S = 60.0
LONE = "gateway"
"""Of this kind each process has a shard of its own, so none can stay away for another."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A SIGKILL that hit the process of a slot, `at` seconds of the run's clock."""

    slot: str
    kind: str
    at: float


@dataclass(slots=True)
class Struck:
    """What struck in a run: how often each kind of fault, the kills, and when the broker was away for all."""

    faults: Counter[str] = field(default_factory=Counter[str])
    kills: list[Kill] = field(default_factory=list[Kill])
    away: list[Window] = field(default_factory=list[Window])
    events: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])


class Strikes:
    """All faults of a run. Without `restart` a killed process stays away until its kind would have none left."""

    def __init__(
        self, plan: Sequence[Fault], slots: Slots, broker: JvmKafka | None, clock: RunClock, *, restart: bool
    ) -> None:
        self._plan = plan
        self._slots = slots
        self._broker = broker
        self._clock = clock
        self._restart = restart
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.struck = Struck()

    async def run(self, start: float) -> None:
        """Strike everything in time, counted from `start`; returns when all is over and everybody is wanted back."""
        async with asyncio.TaskGroup() as group:
            for fault in self._plan:
                await asyncio.sleep(max(0.0, start + fault.at_s - self._clock.now()))
                group.create_task(self._strike(fault))
        for slot in self._slots.slots.values():
            self._slots.release(slot)

    async def _strike(self, fault: Fault) -> None:
        if fault.kind == "broker":
            await self._restart_broker(fault)
            return
        slot = self._slots.slots[fault.slot]
        async with self._locks[slot.kind]:
            if not await self._is_there(slot):
                return
            if fault.kind == "sigkill":
                await self._kill(fault, slot)
                return
        match fault.kind:
            case "sigterm":
                self._slots.send(slot, signal.SIGTERM)
                self.struck.faults[fault.kind] += 1
            case "sigstop":
                window = self._slots.freeze(slot)
                if window is not None:
                    self.struck.faults[fault.kind] += 1
                    await asyncio.sleep(fault.for_s)
                    self._slots.thaw(slot, window)

    async def _is_there(self, slot: Slot) -> bool:
        """Wait until a process is in the slot and ready; False if none comes, and then the fault is left out."""
        if slot.held:
            self._slots.release(slot)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_WITHIN_S):
                await slot.ready.wait()
        return slot.process is not None and slot.ready.is_set()

    async def _kill(self, fault: Fault, slot: Slot) -> None:
        if not self._restart and slot.kind != LONE:
            for other in self._slots.slots.values():
                if other.kind == slot.kind and other is not slot and not await self._is_there(other):
                    return
            self._slots.hold(slot)
        if slot.process is not None:
            self.struck.faults[fault.kind] += 1
            self.struck.kills.append(Kill(slot.name, slot.kind, self._clock.now()))
            self._slots.send(slot, signal.SIGKILL)

    async def _restart_broker(self, fault: Fault) -> None:
        if self._broker is None or (self.struck.away and self.struck.away[-1].end > self._clock.now()):
            return
        window = Window("broker", self._clock.now())
        self.struck.away.append(window)
        self.struck.faults[fault.kind] += 1
        self.struck.events.append((window.start, "the broker is killed"))
        await self._broker.kill()
        await self._broker.restart()
        window.end = self._clock.now()
        self.struck.events.append((window.end, "the broker serves again"))
