"""Which orders a predecessor may have sent: those whose cause it can have known before it stopped sending.

An order that nobody else can have sent needs no look into the channel, which saves a request, and it cannot be taken
for an equal text that is there. The fault that this guards against: a process that has just started, and knows of no earlier
message, takes "Yes." for the other "Yes." of the same turn, and one of the two is never shown.

An order's own place in `deliveries` does not tell: it may be a copy. A predecessor shows the order and dies; then an
orchestrator that takes the channel over reads its inbox again and writes the same orders once more, behind all ends that we
know. But every copy names the same *cause*, the offset of the inbox event that led to it, and the first one was written
after that event. So an order whose cause the inbox did not have yet, when no predecessor could send any more, is new.

Why it holds against predecessors that live on: their last confirmed heartbeat was sent before the group gave the
partition to us, so their last request starts less than `fence.STALE_S` after that. Hence the inbox's end counts as it is
`SETTLED_S` after the take-over, and until it is known every order may have been sent; on the embedded broker, which does
not tell ends, for ever. An inbox that was made anew counts from 0 again and orders of before it name high offsets, so
nothing is new that stood in `deliveries` at that time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from services.delivery.fence import STALE_S
from services.runtime.logs import get_logger

log = get_logger("delivery")
SETTLED_S = STALE_S + 1.0
_AGAIN_S = 5.0

Ends = Callable[[str, Collection[int]], Awaitable[Mapping[int, int]]]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A partition's ends when no predecessor could send any more."""

    deliveries: int
    inbox: int


class TakeOvers:
    """The partitions that were taken over. `ends` asks the broker for a topic's ends."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._known: dict[int, _Settled] = {}

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

    def may_be_sent(self, partition: int, offset: int, cause: int | None) -> bool:
        """Whether somebody else may have sent the order at the offset, or a copy of it."""
        known = self._known.get(partition)
        return known is None or cause is None or cause < known.inbox or offset < known.deliveries

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
                deliveries = await self._ends("deliveries", mine)
                inbox = await self._ends("inbox", mine)
                break
            except Exception as error:
                log.info("ends unknown, will ask again", error=type(error).__name__)
                wait_s = _AGAIN_S
        for partition in mine:
            told = partition in deliveries and partition in inbox
            if told and self._tasks.get(partition) is asyncio.current_task():
                self._known[partition] = _Settled(deliveries[partition], inbox[partition])
