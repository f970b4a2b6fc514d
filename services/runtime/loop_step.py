"""How long one step of the event loop has lasted, so that whoever has much to do without waiting lets the others on.

The fault that this guards against: a process that takes a backlog over handles thousands of records in one step, sends no
heartbeat meanwhile, is thrown out of its group, and begins anew with a larger backlog, for ever.
"""

import asyncio

LONG_S = 0.02


class LoopStep:
    """The present step, as far as it is known: it counts from the first question in it on."""

    def __init__(self) -> None:
        self._began_s: float | None = None

    async def breathe(self) -> None:
        """Let everybody else have a turn if this step has lasted longer than LONG_S seconds, else go on at once."""
        loop = asyncio.get_running_loop()
        if self._began_s is None:
            self._began_s = loop.time()
            loop.call_soon(self._ended)
        elif loop.time() - self._began_s > LONG_S:
            await asyncio.sleep(0)

    def _ended(self) -> None:
        self._began_s = None
