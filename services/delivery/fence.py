"""The fence: no request that changes something in Discord starts unless the group confirmed us less than 3 s ago.

The fault that it guards against: a process that was frozen or cut off wakes up, and sends what its successor has sent
long ago, when Discord has forgotten the nonces. Whoever has taken over a partition knows that nobody before them starts a
request 3 s later. A process that was away waits for its group's word, and by then knows what it has lost.

A judgement (`judged`: the order is young, or was looked for) holds for 15 s: discord.py waits for rate limits inside a
call, and what was true before may not be true after. What is left is the time from here to the socket: a process that is
frozen just there for longer than Discord keeps nonces may show a text twice. No claim would help, as it comes before.
"""

import asyncio
import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar

from services.runtime.errors import Unavailable

STALE_S = 3.0
HOLDS_S = 15.0
WAIT_S = 0.1
WAITS = 50
_JUDGED_S: ContextVar[float | None] = ContextVar("judged_s", default=None)


class Fence:
    """Open while the group's last word, whose age `heartbeat_age_s` tells, is fresh."""

    def __init__(self, heartbeat_age_s: Callable[[], float]) -> None:
        self._age_s = heartbeat_age_s

    async def passed(self) -> None:
        """Return at once if the fence is open. Else wait until it is, for a few seconds, and raise Unavailable in any case.

        The runtime then looks first whether the record's partition is still ours.
        """
        if self._age_s() <= STALE_S:
            return
        for _ in range(WAITS):
            await asyncio.sleep(WAIT_S)
            if self._age_s() <= STALE_S:
                break
        raise Unavailable("group", "this process was away, and others may own its partitions", retry_after_s=0.0)

    def check(self) -> None:
        """Raise Unavailable where no request may start now; called as late as can be before it does."""
        if self._age_s() > STALE_S:
            raise Unavailable("group", "the last heartbeat is too old", retry_after_s=0.0)
        judged_s = _JUDGED_S.get()
        if judged_s is not None and asyncio.get_running_loop().time() - judged_s > HOLDS_S:
            raise Unavailable("discord", "the request waited too long to be sent unseen", retry_after_s=0.0)


@contextlib.contextmanager
def judged() -> Generator[None]:
    """What is requested in here was judged just now."""
    token = _JUDGED_S.set(asyncio.get_running_loop().time())
    try:
        yield
    finally:
        _JUDGED_S.reset(token)
