"""The hub: what happens is told to every open page, and a page that reads too slowly is let go, to come back anew."""

import asyncio
import contextlib
from collections.abc import Generator, Mapping, Sequence

import orjson

QUEUED = 2_000
PAGES = 32


class TooManyPages(Exception):
    """As many pages are open as may be."""


def frame(event: str, data: Mapping[str, object] | Sequence[object]) -> bytes:
    """A server-sent event. https://html.spec.whatwg.org/multipage/server-sent-events.html"""
    return b"event: %s\ndata: %s\n\n" % (event.encode(), orjson.dumps(data))


class Listener:
    """One open page: its events, at most 2,000 of them waiting."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)
        self._late = False

    def put(self, told: bytes) -> None:
        """Queue an event; without room the page counts as late, and gets no more."""
        try:
            self._frames.put_nowait(told)
        except asyncio.QueueFull:
            self._late = True

    async def next(self, within_s: float) -> bytes | None:
        """The next events together, empty where none came in time; None once the page is late."""
        if self._late:
            return None
        try:
            async with asyncio.timeout(within_s):
                told = await self._frames.get()
        except TimeoutError:
            return b""
        while not self._frames.empty() and len(told) < 256 * 1024:
            told += self._frames.get_nowait()
        return told


class Hub:
    """All open pages."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._heard = asyncio.Event()

    @property
    def heard(self) -> bool:
        """Whether any page is open."""
        return self._heard.is_set()

    async def until_heard(self) -> None:
        """Wait until a page is open."""
        await self._heard.wait()

    def tell(self, event: str, data: Mapping[str, object] | Sequence[object]) -> None:
        """Tell every page."""
        if not self._listeners:
            return
        told = frame(event, data)
        for listener in self._listeners:
            listener.put(told)

    @contextlib.contextmanager
    def listening(self) -> Generator[Listener]:
        """A new page's events, as long as the context is open; raises TooManyPages."""
        if len(self._listeners) >= PAGES:
            raise TooManyPages
        listener = Listener()
        self._listeners.add(listener)
        self._heard.set()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners:
                self._heard.clear()
