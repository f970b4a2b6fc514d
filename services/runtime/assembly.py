"""A worker put together: claims, control, handler and feed over a log, whichever log, clock and process that is.

A service says what it is with a `WorkerSpec`. What this builds and ends is the same in a real process
(`services.runtime.process`) and in a simulated one; signals, ports and locks are the process's affair.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf

from schemas.topics import Topics
from services.runtime.claims import Claims
from services.runtime.clock import Clock
from services.runtime.control import Control
from services.runtime.errors import ConfigurationError
from services.runtime.feed import Feed
from services.runtime.handler import Handler
from services.runtime.health import Health, ReadyCheck
from services.runtime.log import GroupReader, Log
from services.runtime.logs import get_logger
from services.runtime.sender import Sender
from services.runtime.settings import Settings

log = get_logger("worker")
CLOSE_MARGIN_S = 2.0
"""The part of the grace period that is kept for closing what did not finish."""

Background = Callable[[], Awaitable[None]]


@dataclass
class Context:
    """What a service's `build` may use. Claims and control are there where the spec asks for them."""

    settings: Settings
    topics: Topics
    log: Log
    sender: Sender
    clock: Clock
    instance: str
    incarnation: str
    _claims: Claims | None = None
    _control: Control | None = None
    reader: GroupReader | None = None
    health: Health = field(default_factory=Health)
    background: list[Background] = field(default_factory=list[Background])
    at_stop: list[Background] = field(default_factory=list[Background])

    @property
    def claims(self) -> Claims:
        """The process's claims; only for specs with `needs_claims`."""
        if self._claims is None:
            raise ConfigurationError("the worker's spec does not ask for claims")
        return self._claims

    @property
    def control(self) -> Control:
        """The process's control; only for specs with `needs_control`."""
        if self._control is None:
            raise ConfigurationError("the worker's spec does not ask for control")
        return self._control

    def heartbeat_age_s(self) -> float:
        """How long ago the worker's group last took this process as a member; see `GroupReader.heartbeat_age_s`."""
        return inf if self.reader is None else self.reader.heartbeat_age_s()

    def add_ready_check(self, name: str, check: ReadyCheck) -> None:
        """Add a condition of /readyz; `check` says what is missing, or None."""
        self.health.add(name, check)

    def add_background(self, run: Background) -> None:
        """Run a coroutine function for the life of the process; its error ends the process."""
        self.background.append(run)

    def on_stop(self, run: Background) -> None:
        """Run a coroutine function at the end, before the sender closes."""
        self.at_stop.append(run)


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A kind of worker. `reads` is its input topic; a worker without one has only background tasks."""

    name: str
    reads: str | None
    build: Callable[[Context], Awaitable[Handler | None]]
    needs_claims: bool = False
    needs_control: bool = False


class Assembly:
    """One worker from `start` to `stop`. `instance` is its slot, `incarnation` this life of it."""

    def __init__(
        self, spec: WorkerSpec, *, settings: Settings, topics: Topics, cluster: Log, clock: Clock, health: Health,
        instance: str, incarnation: str,
    ) -> None:  # fmt: skip
        self._spec = spec
        self._grace_s = settings.grace_s
        sender = Sender(cluster, topics)
        claims = control = None
        if spec.needs_claims:
            claims = Claims(
                cluster,
                sender,
                clock,
                instance=instance,
                incarnation=incarnation,
                exclusive=settings.exclusive_instance,
            )
        if spec.needs_control:
            control = Control(cluster, clock)
        self._readers: list[Claims | Control] = [part for part in (claims, control) if part is not None]
        self.context = Context(
            settings=settings,
            topics=topics,
            log=cluster,
            sender=sender,
            clock=clock,
            instance=instance,
            incarnation=incarnation,
            health=health,
            _claims=claims,
            _control=control,
        )
        self.feed: Feed | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        health.add("writes", sender.stalled)
        if spec.reads is not None:
            health.add("partitions", lambda: self._unserved())

    def _unserved(self) -> str | None:
        """A rolling restart goes on when this is None: earlier, two processes would be recovering at once."""
        return None if self.feed is not None and self.feed.served_once.is_set() else "none assigned and recovered yet"

    async def start(self) -> None:
        """Read claims and control up to their ends, build the handler, join the group."""
        for part in self._readers:
            await part.start()
        context = self.context
        if self._spec.reads is not None:
            context.reader = context.log.group(self._spec.reads, self._spec.name)
        handler = await self._spec.build(context)
        for run in context.background:
            self._tasks.add(asyncio.create_task(_awaited(run), name=f"{self._spec.name} background"))
        if self._spec.reads is not None and context.reader is not None and handler is not None:
            self.feed = Feed(
                service=self._spec.name,
                topic=self._spec.reads,
                log_port=context.log,
                reader=context.reader,
                sender=context.sender,
                handler=handler,
                topics=context.topics,
                max_unprocessed=context.settings.max_unprocessed,
            )
            self._tasks.add(asyncio.create_task(self.feed.run(), name="feed"))

    async def until(self, stop: asyncio.Event) -> None:
        """Wait for the stop, or raise the error of the first part that fails."""
        stopped = asyncio.create_task(stop.wait(), name="stop")
        waiting: set[asyncio.Task[None] | asyncio.Task[bool]] = {stopped, *self._tasks}
        try:
            while not stopped.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done - {stopped}:
                    error = task.exception()
                    if error is not None:
                        raise error
        finally:
            stopped.cancel()

    async def stop(self) -> None:
        """Stop consuming, leave the group, finish what has begun within the grace period, close what did not."""
        log.info("stopping", grace_s=self._grace_s)
        if self.feed is not None:
            await self.feed.stop(finish_s=max(0.0, self._grace_s - CLOSE_MARGIN_S), leave=True)
        elif self.context.reader is not None:
            await self.context.reader.stop(leave=False)
        for run in self.context.at_stop:
            await run()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2.0)
        await self.context.sender.close(within_s=min(CLOSE_MARGIN_S, max(self._grace_s, 0.5)))
        for part in self._readers:
            await part.stop()


async def _awaited(run: Background) -> None:
    await run()
