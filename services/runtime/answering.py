"""Whether what a process depends on answers, for /readyz and the log: asked every few seconds, told after a silence."""

import asyncio
from collections.abc import Awaitable, Callable

from services.runtime.logs import get_logger

log = get_logger("answering")
EVERY_S = 2.0
ANSWER_S = 5.0
SILENT_S = 5.0
"""For so long nobody may answer before the process counts as not ready; a leader that moves takes less."""


class Answering:
    """One thing that is asked, from `start` to `stop`; `ask` says whether it has answered, and may raise anything."""

    def __init__(self, name: str, address: str, ask: Callable[[], Awaitable[bool]]) -> None:
        self._name = name
        self._address = address
        self._ask = ask
        self._since_s: float | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to ask; it has just answered."""
        self._task = asyncio.create_task(self._run(), name=f"does {self._name} answer")

    async def stop(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def missing(self) -> str | None:
        """What a ready check says: None while there are answers."""
        silent_s = self._silent_s()
        return None if silent_s < SILENT_S else f"no answer from {self._address} for {silent_s:.0f} s"

    def _silent_s(self) -> float:
        return 0.0 if self._since_s is None else asyncio.get_running_loop().time() - self._since_s

    async def _run(self) -> None:
        told = False
        while True:
            asked_s = asyncio.get_running_loop().time()
            if await self._answered():
                if told:
                    log.info("answers again", dependency=self._name, after_s=round(self._silent_s(), 1))
                self._since_s, told = None, False
            elif self._since_s is None:
                self._since_s = asked_s
            if not told and self.missing() is not None:
                told = True
                log.error("does not answer, so work waits", dependency=self._name, address=self._address)
            await asyncio.sleep(EVERY_S)

    async def _answered(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._ask()
        except Exception:
            return False
