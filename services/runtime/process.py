"""A worker's operating system process: the slot's lock, the health port, the signals, the wait for the broker.

SIGTERM and SIGINT mean: stop consuming, leave the group so that a successor takes over at once, finish what has begun
within the grace period, then end.
"""

import asyncio
import gc
import hashlib
import os
import signal
import socket
import uuid
from collections.abc import Coroutine
from pathlib import Path

from schemas.topics import load_topics
from services.runtime.assembly import Assembly, WorkerSpec
from services.runtime.clock import SystemClock
from services.runtime.errors import Unavailable
from services.runtime.health import Health
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.logs import get_logger
from services.runtime.settings import Settings
from services.runtime.slots import Slot

log = get_logger("process")


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
    # The same name on another cluster is another slot.
    place = run_dir / hashlib.sha256(settings.kafka.encode()).hexdigest()[:12]
    slot = Slot(place, f"{settings.prefix}{instance}") if settings.exclusive_instance else None
    topics = load_topics(settings.topics_file)
    cluster = KafkaLog(settings, topics)
    health = Health()
    health.add("kafka", cluster.missing)
    port = await health.start(settings.http_host, settings.http_port)
    log.info("started", http=f"http://{settings.http_host}:{port}", pid=os.getpid())
    try:
        if not await _connect(cluster, stop):
            return
        assembly = Assembly(
            spec,
            settings=settings,
            topics=topics,
            cluster=cluster,
            clock=SystemClock(),
            health=health,
            instance=instance,
            incarnation=f"{instance}:{uuid.uuid4().hex[:12]}",
        )
        try:
            if await _unless(stop, assembly.start()):
                _spare_what_is_loaded()
                await assembly.until(stop)
        finally:
            await assembly.stop()
    finally:
        await cluster.stop()
        await health.stop()
        del slot
        log.info("ended")


def _spare_what_is_loaded() -> None:
    """Let the collector of cycles never look again at the modules and at what was built, which last as long as the process.

    There are 85,000 to 165,000 objects of theirs. A look at all holds up every stream of the process, the context worker's
    for 20 to 80 ms.
    """
    gc.collect()
    gc.freeze()


async def _connect(cluster: KafkaLog, stop: asyncio.Event) -> bool:
    """Connect, waiting for a broker that is away. False: the process was told to stop meanwhile."""
    wait_s = 0.5
    while not stop.is_set():
        try:
            return await _unless(stop, cluster.start())
        except Unavailable as error:
            log.warning(
                "waiting for Kafka",
                detail=str(error),
                remedy="check ODRADEK_KAFKA, or run `odradek doctor`",
                often=True,
            )
            await _unless(stop, asyncio.sleep(wait_s))
            wait_s = min(wait_s * 2, 10.0)
    return False


async def _unless(stop: asyncio.Event, doing: Coroutine[None, None, None]) -> bool:
    """Whether `doing` came to its end before the stop; else it is cancelled."""
    work = asyncio.create_task(doing)
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return False
        await work
        return True
    finally:
        stopped.cancel()
        work.cancel()
        await asyncio.wait({work, stopped})
