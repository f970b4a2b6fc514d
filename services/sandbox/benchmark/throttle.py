"""A share of one core for each of some processes: a process that has used its share stands still until time catches up.

On a machine with few cores, more processes of a kind could not show that they carry more; capped ones can, since what
limits each is its own share and not the machine.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

import psutil

from services.sandbox.benchmark.crew import Member

EVERY_S = 0.02
SAVED_S = 0.05
"""How much unused CPU time a process may save up, in seconds."""


@dataclass(slots=True)
class _Capped:
    process: psutil.Process
    used_s: float
    credit_s: float
    stopped: bool = False


@contextlib.asynccontextmanager
async def capped(members: Callable[[], tuple[Member, ...]], share: float) -> AsyncGenerator[None]:
    """Hold the processes to `share` of a core each; all run freely again at the end."""
    throttle = _Throttle(members, share)
    running = asyncio.create_task(throttle.run(), name="throttle")
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})
        throttle.release()


class _Throttle:
    def __init__(self, members: Callable[[], tuple[Member, ...]], share: float) -> None:
        self._members = members
        self._share = share
        self._capped: dict[int, _Capped] = {}

    async def run(self) -> None:
        last_s = time.monotonic()
        while True:
            await asyncio.sleep(EVERY_S)
            now_s = time.monotonic()
            for member in self._members():
                with contextlib.suppress(psutil.NoSuchProcess):
                    self._look(member.pid, now_s - last_s)
            last_s = now_s

    def _look(self, pid: int, passed_s: float) -> None:
        known = self._capped.get(pid)
        if known is None:
            process = psutil.Process(pid)
            self._capped[pid] = _Capped(process, _used_s(process), SAVED_S)
            return
        used_s = _used_s(known.process)
        known.credit_s = min(SAVED_S, known.credit_s + passed_s * self._share - (used_s - known.used_s))
        known.used_s = used_s
        if known.credit_s < 0 and not known.stopped:
            known.process.suspend()
            known.stopped = True
        elif known.credit_s >= 0 and known.stopped:
            known.process.resume()
            known.stopped = False

    def release(self) -> None:
        """Let all processes run."""
        for known in self._capped.values():
            if known.stopped:
                with contextlib.suppress(psutil.NoSuchProcess):
                    known.process.resume()


def _used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
