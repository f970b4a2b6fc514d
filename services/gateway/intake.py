"""From seen messages to the inbox, in the order of each channel, with gaps filled from the channel's history.

A live message goes to the log in the very step in which it arrives. A channel that may have a gap (after a connect, or
because the log took no more) is *behind*: its live messages wait until its history has been read from the watermark on.
Whatever is read twice has the same id, and the fold drops the second.

A channel that gets more messages at once than people write is written at a pace, and what is over waits here: every
message costs all workers something, and they work for other channels too.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Protocol

import discord

from schemas.inbox import FoldSettings, MessageReceived
from services.gateway.admission import SeenMessage, admit, inbox_record
from services.gateway.metrics import BACKFILLED, BACKFILLS_FAILED, PACED, RECEIVED, UNACKNOWLEDGED
from services.gateway.watermarks import Watermarks
from services.runtime.discord import UNREACHABLE
from services.runtime.log import Appended, NewRecord
from services.runtime.logs import get_logger
from services.runtime.pace import Pace

logger = get_logger("gateway.intake")

PAGE = 100
_PAGES = 3
_CHANNELS = 50
_AT_ONCE = 5
_TRIES = 4
_READ_S = 20.0
"""discord.py waits out a rate limit however long it is, and others wait to be read."""
_HELD = 2_000
_BEHIND = 1_000
_AT_ONCE_A_CHANNEL = 20
_EVERY_S = 0.05
_PACED = 2_000
_OVERLAP = 5_000 << 22  # 5 s of ids: Discord may tell of near-simultaneous messages out of order

Send = Callable[[NewRecord], "asyncio.Future[Appended]"]


class History(Protocol):
    """A channel's messages over REST."""

    async def messages_after(self, channel_id: int, guild_id: int | None, after: int) -> list[SeenMessage]:
        """Up to `PAGE` messages with a higher id than `after`, the oldest first; raises what discord.py raises."""
        ...


class Intake:
    """One gateway process's way into the inbox. `limit`: messages that may wait for the log's acknowledgement.

    `rules_version` and `settings` are stamped on every message; the turn keeps them. `pace`: how fast one channel's
    messages are written.
    """

    def __init__(
        self,
        send: Send,
        watermarks: Watermarks,
        *,
        limit: int = 1_000,
        retry_s: float = 1.0,
        rules_version: int = 1,
        pace: Pace | None = None,
        settings: FoldSettings | None = None,
    ) -> None:
        self._rules_version = rules_version
        self._send = send
        self._watermarks = watermarks
        self._limit = limit
        self._retry_s = retry_s
        self._settings = settings or FoldSettings()
        self._bot_id = 0
        self._history: History | None = None
        self._unacknowledged = 0
        self._held = 0
        self._space = asyncio.Event()
        self._space.set()
        self._behind: dict[int, _Behind] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading = asyncio.Semaphore(_AT_ONCE)
        self._pace = pace or Pace(burst=_AT_ONCE_A_CHANNEL, every_s=_EVERY_S)
        self._paced: dict[str, deque[MessageReceived]] = {}

    def connected(self, bot_id: int, history: History) -> None:
        """A new session has begun: events may be missing, so the channels that were active last are read again."""
        self._bot_id = bot_id
        self._history = history
        for mark in self._watermarks.latest(_CHANNELS):
            self._fall_behind(mark.channel_id, mark.guild_id, mark.seen)

    def receive(self, message: SeenMessage) -> None:
        """Take a live message; call in the order of arrival."""
        behind = self._behind.get(message.channel_id)
        if behind is not None:
            self._hold(behind, message)
        elif self._unacknowledged < self._limit:
            self._decide(message)
        elif self._admit(message) is not None:
            mark = self._watermarks.of(message.channel_id)
            behind = self._fall_behind(
                message.channel_id, message.guild_id, message.id - 1 if mark is None else mark.seen
            )
            if behind is not None:
                self._hold(behind, message)

    async def close(self) -> None:
        """End what is being read; its channels are read again by the next process. What waits for its pace is written."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiting in self._paced.values():
            for received in waiting:
                self._write(received)
        self._paced = {}

    async def caught_up(self) -> None:
        """Wait until no channel is behind and no message waits for its pace."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _decide(self, message: SeenMessage) -> None:
        received = self._admit(message)
        self._watermarks.saw(message.channel_id, message.guild_id, message.id, addressed=received is not None)
        if received is None:
            return
        waiting = self._paced.get(received.channel_id)
        if waiting is None:
            now_s = asyncio.get_running_loop().time()
            if self._pace.wait_s(received.channel_id, now_s) == 0:
                self._pace.took(received.channel_id, now_s)
                self._write(received)
                return
            waiting = self._paced[received.channel_id] = deque()
            self._spawn(self._write_at_pace(received.channel_id, waiting), f"pace {received.channel_id}")
        PACED.inc()
        waiting.append(received)
        if sum(map(len, self._paced.values())) > _PACED:
            # None is lost, and none overtakes another one of its channel.
            self._write(waiting.popleft())

    async def _write_at_pace(self, channel_id: str, waiting: deque[MessageReceived]) -> None:
        loop = asyncio.get_running_loop()
        while waiting:
            await asyncio.sleep(self._pace.wait_s(channel_id, loop.time()))
            await self._space.wait()
            if waiting:
                self._pace.took(channel_id, loop.time())
                self._write(waiting.popleft())
        del self._paced[channel_id]

    def _write(self, received: MessageReceived) -> None:
        RECEIVED.labels(received.source).inc()
        self._unacknowledged += 1
        UNACKNOWLEDGED.set(self._unacknowledged)
        if self._unacknowledged >= self._limit:
            self._space.clear()
        self._send(inbox_record(received)).add_done_callback(self._acknowledged)

    def _admit(self, message: SeenMessage) -> MessageReceived | None:
        return admit(message, bot_id=self._bot_id, settings=self._settings, rules_version=self._rules_version)

    def _acknowledged(self, _: "asyncio.Future[Appended]") -> None:
        self._unacknowledged -= 1
        UNACKNOWLEDGED.set(self._unacknowledged)
        if self._unacknowledged <= self._limit // 2:
            self._space.set()

    def _hold(self, behind: "_Behind", message: SeenMessage) -> None:
        if self._held < _HELD:
            self._held += behind.hold(message)
        else:
            behind.incomplete = True

    def _fall_behind(self, channel_id: int, guild_id: int | None, seen: int) -> "_Behind | None":
        behind = self._behind.get(channel_id)
        if behind is not None:
            behind.incomplete = True
        elif len(self._behind) < _BEHIND:
            behind = self._behind[channel_id] = _Behind(channel_id, guild_id, seen)
            self._spawn(self._catch_up(behind), f"catch up {channel_id}")
        else:
            BACKFILLS_FAILED.inc()
            logger.error("too many channels are behind; a message is lost", channel=str(channel_id))
        return behind

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _catch_up(self, behind: "_Behind") -> None:
        after = max(0, behind.seen - _OVERLAP)
        for _ in range(_PAGES):
            await self._space.wait()
            behind.incomplete = False
            page = await self._read(behind, after)
            if len(page) < PAGE and not behind.incomplete:
                break
            for message in page:
                self._decide(message)
                after = message.id
        else:
            page = []
            BACKFILLS_FAILED.inc()
            logger.warning("more messages in a gap than are read again", channel=str(behind.channel_id))
        # No await from here on, so no live message comes in between.
        held = behind.take()
        self._held -= len(held)
        del self._behind[behind.channel_id]
        both = {message.id: message for message in page} | held
        for message_id in sorted(both):
            self._decide(both[message_id])

    async def _read(self, behind: "_Behind", after: int) -> list[SeenMessage]:
        """A page of the channel; empty where it cannot be read."""
        wait_s = self._retry_s
        for attempt in range(_TRIES):
            if attempt:
                await asyncio.sleep(wait_s)
                wait_s *= 2
            history = self._history
            if history is None:
                continue
            try:
                async with self._reading, asyncio.timeout(_READ_S):
                    page = await history.messages_after(behind.channel_id, behind.guild_id, after)
            except (discord.Forbidden, discord.NotFound):
                break
            except (discord.HTTPException, RuntimeError, *UNREACHABLE) as error:  # RuntimeError: a closed session
                logger.warning(
                    "reading history failed",
                    channel=str(behind.channel_id),
                    error=type(error).__name__,
                    often=True,
                )
            else:
                BACKFILLED.inc(len(page))
                return page
        BACKFILLS_FAILED.inc()
        return []


class _Behind:
    """A channel that is being read again, and its live messages meanwhile.

    `incomplete`: since the last page was asked for, something came that is not held.
    """

    def __init__(self, channel_id: int, guild_id: int | None, seen: int) -> None:
        self.channel_id = channel_id
        self.guild_id = guild_id
        self.seen = seen
        self.incomplete = False
        self._held: dict[int, SeenMessage] = {}

    def hold(self, message: SeenMessage) -> int:
        """Keep a live message; returns how many more are held now."""
        before = len(self._held)
        self._held[message.id] = message
        return len(self._held) - before

    def take(self) -> dict[int, SeenMessage]:
        """What was held, by id; none of it is held any more."""
        held, self._held = self._held, {}
        return held
