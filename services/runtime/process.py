"""A worker process from start to end: settings, log, claims, control, health port, feed, signals.

A service says what it is with a `WorkerSpec`; `run_worker` does the rest and returns the exit code. SIGTERM and SIGINT
mean: stop consuming, leave the group so that a successor takes over at once, finish what has begun within the grace
period, then end.
"""

import asyncio
import os
import signal
import socket
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.topics import Topics, load_topics
from services.runtime.claims import Claims
from services.runtime.clock import Clock, SystemClock
from services.runtime.control import Control
from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.feed import Feed
from services.runtime.handler import Handler
from services.runtime.health import Health
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import Log
from services.runtime.logs import get_logger
from services.runtime.sender import Sender
from services.runtime.settings import Settings
from services.runtime.slots import Slot

if TYPE_CHECKING:
    from services.runtime.health import ReadyCheck

log = get_logger("process")
CLOSE_MARGIN_S = 2.0

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

    def add_ready_check(self, name: str, check: "ReadyCheck") -> None:
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


def name_instance(settings: Settings, service: str) -> str:
    """The slot from the settings, else a name that nobody else has."""
    return settings.instance or f"{service}-{socket.gethostname()}-{os.getpid()}"


async def run_worker(spec: WorkerSpec, settings: Settings, *, run_dir: Path) -> None:
    """Run the worker until a signal ends it. Raises OdradekError where it cannot start or go on."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    instance = name_instance(settings, spec.name)
    settings = settings.model_copy(update={"instance": instance})
    slot = Slot(run_dir, f"{settings.prefix}{instance}") if settings.exclusive_instance else None
    topics = load_topics(settings.topics_file)
    clock = SystemClock()
    health = Health()
    starting: dict[str, str] = {"kafka": f"not connected to {settings.kafka} yet"}
    for part in ("kafka", "partitions") if spec.reads else ("kafka",):
        starting.setdefault(part, "none assigned yet")
        health.add(part, lambda part=part: starting.get(part))
    port = await health.start(settings.http_host, settings.http_port)
    log.info("started", http=f"http://{settings.http_host}:{port}", pid=os.getpid())

    cluster = KafkaLog(settings, topics)
    try:
        if not await _connect(cluster, stop):
            return
        del starting["kafka"]
        sender = Sender(cluster, topics)
        incarnation = f"{instance}:{uuid.uuid4().hex[:12]}"
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
            await claims.start()
        if spec.needs_control:
            control = Control(cluster, clock)
            await control.start()
        context = Context(
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
        try:
            await _run_connected(spec, context, stop, starting)
        finally:
            await sender.close(within_s=min(CLOSE_MARGIN_S, max(settings.grace_s, 0.5)))
            for part in (claims, control):
                if part is not None:
                    await part.stop()
    finally:
        await cluster.stop()
        await health.stop()
        del slot
        log.info("ended")


async def _connect(cluster: KafkaLog, stop: asyncio.Event) -> bool:
    """Connect, waiting for a broker that is away. False: the process was told to stop meanwhile."""
    wait_s = 0.5
    while not stop.is_set():
        try:
            await cluster.start()
        except Unavailable as error:
            log.warning("waiting for Kafka", detail=str(error), remedy="check ODRADEK_KAFKA, or run `odradek doctor`")
            await _wait(stop, wait_s)
            wait_s = min(wait_s * 2, 10.0)
            continue
        return True
    return False


async def _run_connected(spec: WorkerSpec, context: Context, stop: asyncio.Event, starting: dict[str, str]) -> None:
    handler = await spec.build(context)
    feed: Feed | None = None
    tasks: dict[str, asyncio.Task[None]] = {
        f"background {n}": asyncio.ensure_future(_as_coroutine(run)) for n, run in enumerate(context.background)
    }
    if spec.reads is not None and handler is not None:
        feed = Feed(
            service=spec.name,
            topic=spec.reads,
            log_port=context.log,
            reader=context.log.group(spec.reads, spec.name),
            sender=context.sender,
            handler=handler,
            topics=context.topics,
            max_unprocessed=context.settings.max_unprocessed,
        )
        tasks["feed"] = asyncio.create_task(feed.run(), name="feed")
        tasks["assigned"] = asyncio.create_task(_note_assignment(feed, starting), name="assigned")
    stopped = asyncio.create_task(stop.wait(), name="stop")
    try:
        await _first_failure(tasks, stopped)
    finally:
        stopped.cancel()
        log.info("stopping", grace_s=context.settings.grace_s)
        await _stop(context, feed, tasks)


async def _first_failure(tasks: dict[str, asyncio.Task[None]], stopped: "asyncio.Task[bool]") -> None:
    """Wait for the stop, or raise the error of the first task that fails."""
    waiting: set[asyncio.Task[None] | asyncio.Task[bool]] = {stopped, *tasks.values()}
    while not stopped.done():
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done - {stopped}:
            error = task.exception()
            if error is not None:
                raise error


async def _stop(context: Context, feed: Feed | None, tasks: dict[str, asyncio.Task[None]]) -> None:
    grace_s = context.settings.grace_s
    if feed is not None:
        await feed.stop(finish_s=max(0.0, grace_s - CLOSE_MARGIN_S), leave=True)
    for run in context.at_stop:
        await run()
    for task in tasks.values():
        task.cancel()
    if tasks:
        await asyncio.wait(tasks.values(), timeout=2.0)


async def _note_assignment(feed: Feed, starting: dict[str, str]) -> None:
    await feed.assigned_once.wait()
    starting.pop("partitions", None)


async def _as_coroutine(run: Background) -> None:
    await run()


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
