"""Which orders a predecessor may have sent: those that were appended before it can have stopped sending.

An order that nobody else can have sent needs no look into the channel, which saves a request, and it cannot be taken
for an equal text that is there. The fault that this guards against: a process that has just started, and knows of no earlier
message, takes "Yes." for the other "Yes." of the same turn, and one of the two is never shown.

Why it holds against predecessors that live on: their last confirmed heartbeat was sent before the group gave the
partition to us, so their last request starts less than `fence.STALE_S` after that. They cannot have sent what was appended
later. Hence the partition's end counts as it is `SETTLED_S` after the take-over, and until it is known every order may
have been sent; on the embedded broker, which does not tell ends, for ever.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

from services.delivery.fence import STALE_S
from services.runtime.logs import get_logger

log = get_logger("delivery")
SETTLED_S = STALE_S + 1.0
_AGAIN_S = 5.0

Ends = Callable[[Collection[int]], Awaitable[Mapping[int, int]]]


class TakeOvers:
    """The partitions that were taken over. `ends` asks the broker for their ends."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._known: dict[int, int] = {}

    def begin(self, partitions: Collection[int]) -> None:
        """The partitions are ours from now on, and were somebody else's before."""
        self.forget(partitions)
        task = asyncio.create_task(self._learn(tuple(partitions)), name="take-over")
        self._tasks |= dict.fromkeys(partitions, task)

    def forget(self, partitions: Collection[int]) -> None:
        """The partitions are not ours any more."""
        for partition in partitions:
            self._known.pop(partition, None)
            self._tasks.pop(partition, None)

    def may_be_sent(self, partition: int, offset: int) -> bool:
        """Whether somebody else may have sent the order at the offset."""
        end = self._known.get(partition)
        return end is None or offset < end

    def close(self) -> None:
        """Ask for nothing more."""
        for task in self._tasks.values():
            task.cancel()

    async def _learn(self, partitions: tuple[int, ...]) -> None:
        wait_s = SETTLED_S
        while True:
            await asyncio.sleep(wait_s)
            mine = [partition for partition in partitions if self._tasks.get(partition) is asyncio.current_task()]
            if not mine:
                return
            try:
                ends = await self._ends(mine)
                break
            except Exception as error:
                log.info("ends unknown, will ask again", error=type(error).__name__)
                wait_s = _AGAIN_S
        for partition in mine:
            if partition in ends and self._tasks.get(partition) is asyncio.current_task():
                self._known[partition] = ends[partition]
