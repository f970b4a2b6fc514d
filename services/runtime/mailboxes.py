"""Mailboxes: the records of one channel wait here for their turn, while other channels go on.

A mailbox has a task only while it has work, so idle channels cost nothing. Between two records it lets the other
mailboxes have theirs, or a channel with a thousand records would hold up the whole process with a handler that never
waits.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from services.runtime.inbound import Inbound, Pending
from services.runtime.logs import get_logger

log = get_logger("mailboxes")


class Mailboxes:
    """The mailboxes of one partition. `process` is awaited for one record of a channel at a time, in order.

    A record at which `process` raises stays unfinished; those behind it have their turn all the same.
    """

    def __init__(self, process: Callable[[Inbound, Pending], Awaitable[None]]) -> None:
        self._process = process
        self._waiting: dict[str, deque[tuple[Inbound, Pending]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, channel: str, inbound: Inbound, pending: Pending) -> None:
        """Queue a record behind the others of its channel."""
        queue = self._waiting.get(channel)
        if queue is not None:
            queue.append((inbound, pending))
            return
        self._waiting[channel] = deque([(inbound, pending)])
        task = asyncio.create_task(self._run(channel), name=f"channel {channel}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, channel: str) -> None:
        queue = self._waiting[channel]
        try:
            while queue:
                inbound, pending = queue.popleft()
                try:
                    await self._process(inbound, pending)
                except Exception:
                    log.exception("defect in a worker, its record stays unfinished", channel=channel)
                if queue:
                    await asyncio.sleep(0)
        finally:
            # Only this task's own queue: after `drop`, the channel may have a new one.
            if self._waiting.get(channel) is queue:
                del self._waiting[channel]

    def drop(self) -> None:
        """Forget what waits; the record that each channel is at goes on to its end."""
        for queue in self._waiting.values():
            queue.clear()
        self._waiting = {}

    @property
    def busy(self) -> bool:
        """Whether something is being processed."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Wait until nothing is being processed."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """Cancel what is being processed."""
        for task in self._tasks:
            task.cancel()
