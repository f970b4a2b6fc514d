"""The feed: all topics read whole and without a group, so that the page takes nothing away from any worker.

It outlives the broker: while that is away the page says so, and reading begins again when it is back.
"""

import asyncio
import contextlib
from collections.abc import Callable

from schemas.topics import Topics
from services.runtime.clock import Clock
from services.runtime.errors import OdradekError, TopicMismatch
from services.runtime.kafka.admin import TopicAdmin, connect_admin
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord
from services.runtime.logs import get_logger
from services.runtime.settings import Settings
from services.sandbox.page.jsontypes import Status

log = get_logger("page.feed")

_AGAIN_S = 1.0
_LOOK_EVERY_S = 2.0
_OVERLAP_MS = 60_000


class Feed:
    """Reads from the time at which it was made on. `on_record` gets records, some again after an outage."""

    def __init__(
        self,
        settings: Settings,
        topics: Topics,
        clock: Clock,
        *,
        on_record: Callable[[LogRecord], None],
        on_status: Callable[[Status], None],
    ) -> None:
        self._settings = settings
        self._topics = topics
        self._made_ms = clock.now_ms()
        self._last_ms = 0
        self._on_record = on_record
        self._on_status = on_status

    async def run(self) -> None:
        """Read for ever."""
        while True:
            try:
                await self._read()
            except OdradekError as error:
                log.info("the log cannot be read", error=str(error))
            # A client's own errors (aiokafka has many) are outages too: the page waits for the log whatever it does.
            except Exception as error:
                log.warning("the log cannot be read", error=type(error).__name__)
            self._on_status("reconnecting")
            await asyncio.sleep(_AGAIN_S)

    async def _read(self) -> None:
        """Read until the broker no longer answers, which raises."""
        async with contextlib.AsyncExitStack() as stack:
            admin = await stack.enter_async_context(connect_admin(self._settings))
            # A log that is opened before its topics exist could make a broker create them in its own way.
            missing = self._topics.topics.keys() - (await admin.topics()).keys()
            if missing:
                raise TopicMismatch(f"topics are missing: {', '.join(sorted(missing))}")
            opened = KafkaLog(self._settings, self._topics)
            stack.push_async_callback(opened.stop)
            await opened.start()
            since_ms = max(self._made_ms, self._last_ms - _OVERLAP_MS)
            tails = [opened.tail(topic, since_ms=since_ms, on_record=self._take) for topic in self._topics.topics]
            for tail in tails:
                stack.push_async_callback(tail.stop)
                await tail.start()
            self._on_status("connected")
            await _watch(admin)

    def _take(self, record: LogRecord) -> None:
        self._last_ms = max(self._last_ms, record.timestamp_ms)
        self._on_record(record)


async def _watch(admin: TopicAdmin) -> None:
    """Ask the broker now and then; raises Unavailable once it gives no answer, which readers alone would never tell."""
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        await admin.cluster()
