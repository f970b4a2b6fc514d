"""The streams that a process may hold, given out in fair shares and one after another.

To begin a stream costs some milliseconds of the process: five hundred at once would hold up everybody's next byte, and a
guild that asks for its first stream would begin after all of them.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from services.provider.shares import Shares, Ticket

BEGIN_EVERY_S = 0.004


class Slots:
    """At most `most` streams at once."""

    def __init__(self, most: int) -> None:
        self._shares = Shares(most)
        self._granted: dict[Ticket, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_s = 0.0

    @asynccontextmanager
    async def wish(self, guild: str) -> "AsyncGenerator[asyncio.Future[None]]":
        """A future that resolves when the guild has a stream more; the stream is given back at the end of the block."""
        ticket = self._shares.ask(guild)
        granted = self._granted[ticket] = asyncio.get_running_loop().create_future()
        self._give()
        try:
            yield granted
        finally:
            granted.cancel()
            self._granted.pop(ticket, None)
            self._shares.leave(ticket)
            self._give()

    def _give(self) -> None:
        loop = asyncio.get_running_loop()
        while self._timer is None:
            now = loop.time()
            if now < self._next_s:
                self._timer = loop.call_at(self._next_s, self._due)
                return
            ticket = self._shares.give()
            if ticket is None:
                return
            self._next_s = now + BEGIN_EVERY_S
            self._granted.pop(ticket).set_result(None)

    def _due(self) -> None:
        self._timer = None
        self._give()
