"""Worker processes in named slots: started, killed, frozen, started again, and ended together.

A slot has one process at a time. A process that was killed comes back after `RESTART_S`; without restarts it stays away
until somebody wants it back.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import aiohttp

from services.runtime.errors import OdradekError
from services.sandbox.brokers.orphans import dying_with_parent
from services.sandbox.brokers.ports import free_port
from services.sandbox.chaos.clock import RunClock

KINDS = ("orchestrator", "context", "provider", "normalizer", "delivery", "gateway")
"""Of workers; a run has some processes of each."""

RESTART_S = 0.5
_POLL_S = 0.05


class NotReady(OdradekError):
    """A process does not come up."""


@dataclass(slots=True)
class Window:
    """Seconds of the run's clock in which something was away."""

    name: str
    start: float
    end: float = inf


@dataclass(slots=True, eq=False)
class Slot:
    """One slot. `program` and `environment`: what its next process runs. `port`: where the present one tells how it is.

    `held`: the process that died in it stays away until `wanted` is set.
    """

    name: str
    kind: str
    program: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    port: int = 0
    process: asyncio.subprocess.Process | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    held: bool = False
    frozen: Window | None = None
    killed: bool = False
    task: "asyncio.Task[None] | None" = None


class Slots:
    """All worker processes of a run. `directory` gets their logs."""

    def __init__(self, directory: Path, clock: RunClock) -> None:
        self._directory = directory
        self._clock = clock
        self._ending = False
        self.slots: dict[str, Slot] = {}
        self.dead: list[Window] = []
        self.frozen: list[Window] = []
        self.startups: list[Window] = []
        self.events: list[tuple[float, str]] = []
        self.fell: list[str] = []
        """Processes that ended though nobody told them to."""

    def start(self, name: str, kind: str, environment: Mapping[str, str]) -> None:
        """Fill a slot."""
        program = ("-m", "services.cli", "worker", kind)
        slot = Slot(name, kind, program, {**environment, "ODRADEK_INSTANCE": name}, self._directory / f"{name}.log")
        self.slots[name] = slot
        slot.task = asyncio.create_task(self._keep(slot), name=f"slot {name}")

    async def _keep(self, slot: Slot) -> None:
        away: Window | None = None
        while not self._ending:
            spawned = self._clock.now()
            # Another one each time: whoever took it meanwhile would keep the slot empty for ever.
            slot.port = free_port()
            with slot.log.open("ab") as out:
                slot.process = await asyncio.create_subprocess_exec(
                    *(sys.executable, *slot.program),
                    env={**os.environ, **slot.environment, "ODRADEK_HTTP_PORT": str(slot.port)},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    preexec_fn=dying_with_parent(signal.SIGKILL),
                )
            if self._ending:
                slot.process.kill()
            getting_ready = asyncio.create_task(
                self._until_ready(slot, f"http://127.0.0.1:{slot.port}/readyz", spawned, away)
            )
            code = await slot.process.wait()
            getting_ready.cancel()
            slot.process = None
            slot.ready.clear()
            self._thawed(slot)
            if self._ending:
                return
            # Of a process that dies before it was ready, the slot's absence goes on.
            if away is None or away.end < inf:
                away = Window(slot.name, self._clock.now())
                self.dead.append(away)
            if not slot.killed:
                self.fell.append(f"{slot.name} (exit {code})")
            slot.killed = False
            self._note(f"{slot.name} has ended ({_how(code)})")
            if slot.held:
                await slot.wanted.wait()
            await asyncio.sleep(RESTART_S)

    async def _until_ready(self, slot: Slot, url: str, spawned: float, away: Window | None) -> None:
        # The process tells nobody: asking is the only way to learn of it.
        while not await _is_ready(url):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        now = self._clock.now()
        self.startups.append(Window(slot.name, spawned, now))
        if away is not None:
            away.end = now
        self._note(f"{slot.name} is ready")
        slot.ready.set()

    def _note(self, what: str) -> None:
        self.events.append((self._clock.now(), what))

    # -- faults ----------------------------------------------------------------------------------------------------

    def send(self, slot: Slot, number: signal.Signals) -> None:
        """Kill or end the slot's process."""
        if slot.process is not None:
            slot.killed = True
            self._note(f"{slot.name} gets {number.name}")
            slot.process.send_signal(number)
            if number == signal.SIGKILL:
                slot.ready.clear()

    async def renew(self, slot: Slot, within_s: float) -> Window:
        """SIGTERM to the process of a slot that is ready; returns from then to when its successor is. Raises NotReady.

        As with a supervisor or a StatefulSet the successor starts when the process has ended, so after what it had
        begun is finished.
        """
        window = Window(slot.name, self._clock.now())
        self.send(slot, signal.SIGTERM)
        slot.ready.clear()
        await self._ready((slot,), within_s)
        window.end = self._clock.now()
        return window

    def freeze(self, slot: Slot) -> Window | None:
        """SIGSTOP; None where there is no process or it is frozen already."""
        if slot.process is None or slot.frozen is not None:
            return None
        self._note(f"{slot.name} is frozen")
        slot.frozen = Window(slot.name, self._clock.now())
        self.frozen.append(slot.frozen)
        slot.process.send_signal(signal.SIGSTOP)
        return slot.frozen

    def thaw(self, slot: Slot, window: Window) -> None:
        """SIGCONT, unless the process that was frozen is gone."""
        if slot.frozen is not window:
            return
        if slot.process is not None:
            slot.process.send_signal(signal.SIGCONT)
            self._note(f"{slot.name} goes on")
        self._thawed(slot)

    def _thawed(self, slot: Slot) -> None:
        if slot.frozen is not None:
            slot.frozen.end = self._clock.now()
            slot.frozen = None

    def hold(self, slot: Slot) -> None:
        """Let the slot stay empty once its process has died."""
        slot.wanted.clear()
        slot.held = True

    def release(self, slot: Slot) -> None:
        """Let the slot be filled again."""
        slot.held = False
        slot.wanted.set()

    # -- all of them -----------------------------------------------------------------------------------------------

    async def all_ready(self, within_s: float) -> None:
        """Wait until every slot has a process that is ready. Raises NotReady."""
        await self._ready(self.slots.values(), within_s)

    async def _ready(self, slots: Collection[Slot], within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                for slot in slots:
                    await slot.ready.wait()
        except TimeoutError:
            missing = ", ".join(slot.name for slot in slots if not slot.ready.is_set())
            raise NotReady(
                f"not ready within {within_s:g} s: {missing}", remedy=f"read the logs in {self._directory}"
            ) from None

    async def end(self, within_s: float) -> None:
        """SIGTERM to all, SIGKILL to those that are there after `within_s` seconds; returns when none is left."""
        self._ending = True
        self._signal_all(signal.SIGTERM)
        self._signal_all(signal.SIGCONT)
        tasks = [slot.task for slot in self.slots.values() if slot.task is not None]
        for slot in self.slots.values():
            self.release(slot)
        if tasks:
            await asyncio.wait(tasks, timeout=within_s)
        self._signal_all(signal.SIGKILL)
        if tasks:
            await asyncio.wait(tasks)

    def _signal_all(self, number: signal.Signals) -> None:
        for slot in self.slots.values():
            if slot.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    slot.process.send_signal(number)


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


async def _is_ready(url: str) -> bool:
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session,
            session.get(url) as response,
        ):
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False
