"""One provider call: send the request, record what comes, and say how it ended; a stop breaks it off at once."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from schemas.prompts import ProviderRequest
from schemas.raw import Ending
from services.provider.deadlines import Deadlines
from services.provider.metrics import FIRST_BYTE, STOP_TO_CLOSED
from services.provider.progress import ProgressMeter
from services.provider.recording import Recorder
from services.provider.transport import Call, ConnectFailed, ConnectionBroken, Response, Transport
from services.runtime.control import Stop

MOST_BODY_BYTES = 16 * 1024 * 1024
MOST_ERROR_BYTES = 64 * 1024
FREE_BYTES = 1024 * 1024
BYTES_A_S = 512 * 1024
"""A body is read as fast as it comes up to FREE_BYTES, then no faster than this: some 2,500 tokens a second as events.

All workers behind this one have to do with every byte, and they work for other channels too.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. `detail` may hold what the provider sent."""

    ending: Ending
    detail: str | None = None


class DeclaredLost(Exception):
    """Somebody declared this stream lost while we were silent; its end is written, and nothing of ours counts."""


class Hold(Protocol):
    """Our claim on the call, as far as a call needs it."""

    def paused(self) -> bool:
        """Whether our own writes stood still so long that somebody may have declared us lost."""
        ...

    async def confirm(self) -> bool:
        """Learn from the log whether we still hold the call."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one call needs. `prepare` finds its secret, `streams` tells how many calls are in flight."""

    transport: Transport
    request: ProviderRequest
    prepare: Callable[[], Awaitable[Call]]
    recorder: Recorder
    streams: Callable[[], int]
    hold: Hold

    async def run(self, stop: "asyncio.Future[Stop]", lost: "asyncio.Future[None]") -> Outcome:
        """Make the call. When `stop` or `lost` resolves, or on cancellation, the connection is closed before this returns.

        Raises DeclaredLost or CallNotMade.
        """
        loop = asyncio.get_running_loop()
        reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait({reading, stop, lost}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not reading.done():
                began = loop.time()
                reading.cancel()
                await asyncio.wait({reading})
                STOP_TO_CLOSED.observe(loop.time() - began)
        if not reading.cancelled():
            return reading.result()
        if lost.done() and not lost.cancelled():
            raise DeclaredLost
        return Outcome("stopped")

    async def _read(self) -> Outcome:
        loop = asyncio.get_running_loop()
        call = await self.prepare()
        began = loop.time()
        deadlines = Deadlines(self.request.deadlines, began)
        try:
            async with asyncio.timeout_at(deadlines.next) as scope:
                response = await self.transport.open(call)
                try:
                    return await self._record(response, deadlines, scope, began)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Outcome(deadlines.overdue)
        except ConnectFailed as error:
            return Outcome("connect_failed", error.detail)
        except ConnectionBroken as error:
            return Outcome("reset", error.detail)

    async def _record(self, response: Response, deadlines: Deadlines, scope: asyncio.Timeout, began: float) -> Outcome:
        loop = asyncio.get_running_loop()
        refused = not 200 <= response.status < 300
        most = MOST_ERROR_BYTES if refused else MOST_BODY_BYTES
        content_type = response.headers.get("content-type", "")
        self.recorder.answered(response.status, content_type, response.headers)
        meter = ProgressMeter(content_type)
        size = 0
        began_body = loop.time()
        async with aclosing(response.chunks()) as chunks:
            async for chunk in chunks:
                now = loop.time()
                if size == 0:
                    FIRST_BYTE.labels(self.request.dialect).observe(now - began)
                if self.hold.paused() and not await self.hold.confirm():
                    raise DeclaredLost
                self.recorder.take(chunk[: most - size], now, self.streams())
                size += len(chunk)
                if size > most:
                    return Outcome("http_error" if refused else "too_large")
                if meter.feed(chunk):
                    deadlines.progressed(now)
                    scope.reschedule(deadlines.next)
                early_s = began_body + (size - FREE_BYTES) / BYTES_A_S - now
                if early_s > 0:
                    deadlines.held_back(early_s)
                    scope.reschedule(deadlines.next)
                    await asyncio.sleep(early_s)
                if self.recorder.is_full():
                    # The wait is the log's fault, so it is not counted as the provider's silence.
                    scope.reschedule(deadlines.total)
                    await self.recorder.room()
                    deadlines.progressed(loop.time())
                    scope.reschedule(deadlines.next)
        return Outcome("http_error" if refused else "eof")
