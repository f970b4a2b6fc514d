"""An event loop in virtual time: when nothing is ready, time jumps to the next timer.

looptime and detangle bring such loops; neither can stop a part of the tasks without running their clean-up, which is
what a killed process means. So this is a small loop of our own over asyncio's base.
"""

import asyncio
import heapq
from asyncio import Handle, TimerHandle
from typing import Any, cast

from services.sandbox.simulation.hosts import CURRENT, Host


class StandStill(Exception):
    """Nothing is ready, no timer is armed, and the run has not ended: everybody waits for ever."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs callbacks in the order in which they became ready. `time` starts at 0 and counts seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self.steps = 0
        self.set_task_factory(self._make_task)

    def time(self) -> float:
        """Virtual seconds since the start."""
        return self._now

    def _make_task(self, _: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> "asyncio.Task[Any]":
        """A task that is kept to the end of the run: collecting a dead host's task would run its clean-up."""
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, **options)
        host = CURRENT.get()
        if host is not None:
            cast(Any, task)._log_destroy_pending = False
            host.tasks.append(task)
        return task

    def thaw(self, host: Host) -> None:
        """Let a frozen host go on with what has become due meanwhile."""
        host.frozen = False
        self._queue().extend(host.parked)
        host.parked.clear()

    def _queue(self) -> Any:
        return cast(Any, self)._ready

    def _run_once(self) -> None:
        ready, timers = self._queue(), cast("list[TimerHandle]", cast(Any, self)._scheduled)
        if not ready:
            while timers and timers[0].cancelled():
                heapq.heappop(timers)
            if not timers:
                raise StandStill
            self._now = max(self._now, timers[0].when())
        while timers and timers[0].when() <= self._now:
            timer = heapq.heappop(timers)
            cast(Any, timer)._scheduled = False
            if not timer.cancelled():
                ready.append(timer)
        for _ in range(len(ready)):
            handle = cast(Handle, ready.popleft())
            if handle.cancelled():
                continue
            host = cast("Host | None", cast(Any, handle)._context.get(CURRENT))
            if host is not None:
                if host.dead:
                    continue
                if host.frozen:
                    host.parked.append(handle)
                    continue
            self.steps += 1
            cast(Any, handle)._run()

    def _write_to_self(self) -> None:
        """Nobody sleeps in a selector, so there is nobody to wake."""

    def _process_events(self, event_list: object) -> None:
        """There are no sockets."""
