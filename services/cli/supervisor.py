"""The supervisor: child processes in named slots, started, watched, started again when they die, and ended together.

A slot is exclusive: a process is started in it only after the one before has ended. A child gets a process group of its
own, so that Ctrl-C in the terminal reaches the supervisor alone and it ends the children in its order.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from services.runtime.errors import OdradekError
from services.sandbox.brokers.orphans import dying_with_parent

RESTART_FIRST_S = 0.2
RESTART_MOST_S = 5.0
STEADY_S = 10.0
CONFIGURATION_EXIT = 2


class ChildFailed(OdradekError):
    """A child cannot do its work; the message holds the last words of its log."""


@dataclass(frozen=True, slots=True)
class Command:
    """What runs in a slot: `odradek` with these arguments and this environment on top of ours."""

    slot: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    ready_url: str


@dataclass
class Child:
    """One slot and the process that is in it."""

    command: Command
    log: Path
    process: asyncio.subprocess.Process | None = None
    starts: int = 0
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None

    @property
    def pid(self) -> int | None:
        """The process id, None between two lives."""
        return None if self.process is None else self.process.pid


class Supervisor:
    """All children of one `odradek up`. `say` gets a line whenever a slot's process dies."""

    def __init__(self, directory: Path, say: Callable[[str], None]) -> None:
        self._directory = directory
        self._say = say
        self._ending = False
        self.children: dict[str, Child] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self, command: Command) -> Child:
        """Start a command in its slot and keep it running."""
        child = Child(command, self._directory / f"{command.slot}.log")
        self.children[command.slot] = child
        child.task = asyncio.create_task(self._keep(child), name=f"slot {command.slot}")
        return child

    async def _keep(self, child: Child) -> None:
        try:
            await self._keep_running(child)
        except OdradekError as error:
            if not self.failed.done():
                self.failed.set_exception(error)

    async def _keep_running(self, child: Child) -> None:
        wait_s = RESTART_FIRST_S
        while not self._ending:
            started = time.monotonic()
            with child.log.open("ab") as out:
                child.process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "services.cli",
                    *child.command.arguments,
                    env={**os.environ, **child.command.environment},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    preexec_fn=dying_with_parent(signal.SIGTERM),
                )
            child.starts += 1
            watch = asyncio.create_task(_until_ready(child))
            code = await child.process.wait()
            watch.cancel()
            child.process = None
            child.ready.clear()
            if self._ending:
                return
            if code == CONFIGURATION_EXIT:
                raise ChildFailed(f"{child.command.slot} cannot run:\n{last_lines(child.log)}", remedy="see above")
            lived_s = time.monotonic() - started
            if lived_s < STEADY_S and child.starts > 5:
                raise ChildFailed(
                    f"{child.command.slot} ends again and again (exit {code}):\n{last_lines(child.log)}",
                    remedy=f"read {child.log}",
                )
            wait_s = RESTART_FIRST_S if lived_s >= STEADY_S else min(wait_s * 2, RESTART_MOST_S)
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
            self._say(f"{child.command.slot} ended ({how}); starting it again")
            await asyncio.sleep(wait_s)

    async def all_ready(self, *, within_s: float) -> None:
        """Wait until every child has answered that it is ready. Raises ChildFailed, which says what is missing."""
        waiting = asyncio.gather(*(child.ready.wait() for child in self.children.values()))
        try:
            async with asyncio.timeout(within_s):
                await asyncio.wait({waiting, self.failed}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            missing = [
                f"{slot}: {await _missing(child.command.ready_url)}\n{last_lines(child.log)}"
                for slot, child in self.children.items()
                if not child.ready.is_set()
            ]
            raise ChildFailed(
                f"not ready within {within_s:g} s:\n" + "\n".join(missing), remedy=f"read the logs in {self._directory}"
            ) from None
        finally:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
        if self.failed.done():
            self.failed.result()

    async def stop(self, *, within_s: float) -> None:
        """SIGTERM to all children, SIGKILL to those that are there after `within_s` seconds; returns when all are gone."""
        self._ending = True
        tasks = [child.task for child in self.children.values() if child.task is not None]
        self._signal_all(signal.SIGTERM)
        if tasks:
            await asyncio.wait(tasks, timeout=within_s)
        self._signal_all(signal.SIGKILL)
        for task in tasks:
            task.cancel()
        for child in self.children.values():
            if child.process is not None:
                await child.process.wait()
        if tasks:
            await asyncio.wait(tasks)
        if self.failed.done() and not self.failed.cancelled():
            self.failed.exception()

    def _signal_all(self, number: signal.Signals) -> None:
        for child in self.children.values():
            if child.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    child.process.send_signal(number)


async def _until_ready(child: Child) -> None:
    # The child is another process: asking is the only way to learn of it.
    while await _missing(child.command.ready_url) is not None:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    child.ready.set()


async def _missing(url: str) -> str | None:
    """What the process says is missing, None when it is ready."""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session,
            session.get(url) as response,
        ):
            return None if response.status == 200 else (await response.text()).strip()
    except (aiohttp.ClientError, TimeoutError, OSError):
        return "does not answer yet"


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a child's log, indented."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "  (no log)"
    return "\n".join(f"  {line}" for line in lines[-count:]) or "  (empty log)"
