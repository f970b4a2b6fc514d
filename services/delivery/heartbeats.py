"""The typing indicator: shown again and again while a turn writes, and never after the message that ends it.

Discord shows it for 10 s or until the next message: https://discord.com/developers/docs/resources/channel#trigger-typing-indicator
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from dataclasses import dataclass

from services.runtime.errors import Unavailable
from services.runtime.logs import get_logger

logger = get_logger("delivery.typing")

Show = Callable[[str], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two beats, the cap of a turn's typing, from a message to the next beat, and for one call."""

    beat_s: float = 8.0
    cap_s: float = 120.0
    after_message_s: float = 1.5
    call_s: float = 2.0


class Heartbeats:
    """One typing loop a channel. `show` makes one call to Discord for a channel; False: it refuses."""

    def __init__(self, show: Show, pace: Pace | None = None) -> None:
        self._show = show
        self._pace = pace or Pace()
        self._beats: dict[str, _Beat] = {}

    def begin(self, channel: str, turn: str, *, partition: int, age_s: float) -> None:
        """Type for the turn until its end, or until `cap_s` after the order, which is `age_s` old."""
        left_s = self._pace.cap_s - age_s
        old = self._beats.get(channel)
        if left_s <= 0 or (old is not None and old.turn == turn and not old.ended):
            return
        if old is not None:
            old.end()
        beat = self._beats[channel] = _Beat(turn, partition, asyncio.Lock() if old is None else old.calling)
        beat.task = asyncio.create_task(self._type(channel, beat, left_s), name=f"typing {channel}")

    def end(self, channel: str, turn: str) -> None:
        """Stop typing for the turn; a call under way is waited for by the channel's next message."""
        beat = self._beats.get(channel)
        if beat is not None and beat.turn == turn:
            beat.end()

    @contextlib.asynccontextmanager
    async def quiet(self, channel: str) -> AsyncGenerator[None]:
        """No typing call of the channel is under way in here, so none can come after the message that is sent."""
        beat = self._beats.get(channel)
        if beat is None:
            yield
            return
        async with beat.calling:
            yield
        beat.postpone(self._pace.after_message_s)

    def drop(self, partitions: Collection[int]) -> None:
        """Stop typing in the channels of the partitions."""
        for beat in self._beats.values():
            if beat.partition in partitions:
                beat.end()

    async def close(self) -> None:
        """Stop typing everywhere."""
        tasks = [beat.task for beat in self._beats.values() if beat.task is not None]
        for beat in self._beats.values():
            beat.end()
        await asyncio.gather(*tasks)

    async def _type(self, channel: str, beat: "_Beat", left_s: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + left_s
        try:
            while not beat.ended and loop.time() < end:
                if await beat.waits():
                    continue
                async with beat.calling:
                    if beat.ended or not await self._called(channel):
                        return
                beat.postpone(self._pace.beat_s)
            async with beat.calling:
                pass  # while a call for an earlier turn is under way, the channel's next message must know of it
        finally:
            if self._beats.get(channel) is beat:
                del self._beats[channel]

    async def _called(self, channel: str) -> bool:
        """Whether to go on: a channel that refuses is left alone, a Discord that is away is tried at the next beat."""
        try:
            async with asyncio.timeout(self._pace.call_s):
                return await self._show(channel)
        except (Unavailable, TimeoutError) as error:
            logger.info("typing failed", channel=channel, error=type(error).__name__, often=True)
        return True


class _Beat:
    """One turn's typing in one channel.

    `calling` is held during a call and during a message. A turn that follows another one in the channel at once takes
    the lock over: a channel makes one call at a time, and none for a turn that has ended before its call.
    """

    def __init__(self, turn: str, partition: int, calling: asyncio.Lock) -> None:
        self.turn = turn
        self.partition = partition
        self.ended = False
        self.calling = calling
        self.task: asyncio.Task[None] | None = None
        self._next = 0.0
        self._woken = asyncio.Event()

    def end(self) -> None:
        self.ended = True
        self._woken.set()

    def postpone(self, seconds: float) -> None:
        self._next = asyncio.get_running_loop().time() + seconds
        self._woken.set()

    async def waits(self) -> bool:
        """Wait for the next beat's time; True where it must be looked at again."""
        self._woken.clear()
        left = self._next - asyncio.get_running_loop().time()
        if left <= 0:
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._woken.wait()
        return True
