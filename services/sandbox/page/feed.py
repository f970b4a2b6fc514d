"""The feed: all topics read whole and without a group, so that the page takes nothing away from any worker.

It outlives the broker: while that is away the page says so, and reading begins again when it is back. It reads only while
a page is open, since waiting for records keeps the embedded broker busy, and goes on from where it was.
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
from services.sandbox.page.hub import Hub
from services.sandbox.page.jsontypes import Status

log = get_logger("page.feed")

_AGAIN_S = 1.0
_LOOK_EVERY_S = 2.0
_LEAVE_AFTER_S = 10.0
_OVERLAP_MS = 60_000


class Feed:
    """Reads from the time at which it was made on, while the hub is heard. `on_record` gets some records again."""

    def __init__(
        self,
        settings: Settings,
        topics: Topics,
        clock: Clock,
        hub: Hub,
        *,
        on_record: Callable[[LogRecord], None],
        on_status: Callable[[Status], None],
    ) -> None:
        self._settings = settings
        self._topics = topics
        self._made_ms = clock.now_ms()
        self._last_ms = 0
        self._reason = ""
        self._hub = hub
        self._on_record = on_record
        self._on_status = on_status

    async def run(self) -> None:
        """Read for ever."""
        while True:
            await self._hub.until_heard()
            try:
                await self._read()
                self._on_status("connecting")
                continue
            except OdradekError as error:
                self._note(str(error))
            # A client's own errors (aiokafka has many) are outages too: the page waits for the log whatever it does.
            except Exception as error:
                self._note(type(error).__name__)
            self._on_status("reconnecting")
            await asyncio.sleep(_AGAIN_S)

    async def _read(self) -> None:
        """Read until no page has been open for a while; raises when the broker no longer answers."""
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
            for topic in self._topics.topics:
                tail = opened.tail(topic, since_ms=since_ms, on_record=self._take)
                stack.push_async_callback(tail.stop)
                await tail.start()
            self._reason = ""
            self._on_status("connected")
            await self._watch(admin)

    def _note(self, reason: str) -> None:
        """Log why the log cannot be read, once until that changes."""
        if reason != self._reason:
            self._reason = reason
            log.warning("the log cannot be read", reason=reason)

    def _take(self, record: LogRecord) -> None:
        self._last_ms = max(self._last_ms, record.timestamp_ms)
        self._on_record(record)

    async def _watch(self, admin: TopicAdmin) -> None:
        """Ask the broker now and then: that it gives no answer is what readers alone would never tell."""
        loop = asyncio.get_running_loop()
        heard_at = loop.time()
        while loop.time() - heard_at < _LEAVE_AFTER_S:
            await asyncio.sleep(_LOOK_EVERY_S)
            await admin.cluster()
            if self._hub.heard:
                heard_at = loop.time()
