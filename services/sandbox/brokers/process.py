"""A broker as a child process in a process group of its own: start, wait until it serves, stop, kill, pause."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from services.sandbox.brokers.errors import BrokerFailed, last_words
from services.sandbox.brokers.orphans import dying_with_parent
from services.sandbox.brokers.readiness import serves

_POLL_S = 0.02  # a listener announces itself to nobody: dialling is the only way to learn of it


class BrokerProcess:
    """One run of a broker's program. Not tied to an event loop, so fixtures of any scope can hold it.

    The group is its own, so a Ctrl-C in the terminal reaches the owner only, and the owner stops the broker last.
    """

    def __init__(self, command: Sequence[str], *, log: Path) -> None:
        """Starts the program; its output is appended to ``log``, whose folder is made if need be."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as out:
            self._popen = subprocess.Popen(  # noqa: S603 - the command is built by this package
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dying_with_parent(signal.SIGKILL),
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    async def wait_ready(self, port: int, *, timeout_s: float) -> None:
        """Returns once 127.0.0.1:port serves metadata. Raises BrokerFailed, and then nothing runs."""
        try:
            async with asyncio.timeout(timeout_s):
                while not await serves("127.0.0.1", port):
                    if not self.running:
                        raise BrokerFailed(
                            f"the broker ended at its start: {last_words(self.log.read_bytes())}", self.log
                        )
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            await self.kill()
            raise BrokerFailed(
                f"the broker did not answer within {timeout_s:g} s: {last_words(self.log.read_bytes())}", self.log
            ) from None
        except asyncio.CancelledError:
            self._signal(signal.SIGKILL)
            raise
        if not self.running:  # somebody else answered on the port
            raise BrokerFailed(f"the broker ended at its start: {last_words(self.log.read_bytes())}", self.log)

    async def stop(self, *, grace_s: float) -> None:
        """SIGTERM, then SIGKILL after ``grace_s`` seconds. Returns when the process is gone."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a paused process would not see it
        try:
            await asyncio.wait_for(self._ended(), grace_s)
        except (TimeoutError, asyncio.CancelledError) as interrupted:
            await self.kill()
            if isinstance(interrupted, asyncio.CancelledError):
                raise

    async def kill(self) -> None:
        """SIGKILL. Returns when the process is gone."""
        self._signal(signal.SIGKILL)
        await self._ended()

    def kill_now(self) -> None:
        """SIGKILL for owners without an event loop. Returns when the process is gone."""
        self._signal(signal.SIGKILL)
        self._popen.wait()

    def pause(self) -> None:
        """SIGSTOP: connections stay open and nothing answers, as with a broker behind a broken network."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    async def _ended(self) -> None:
        await asyncio.to_thread(self._popen.wait)

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, number)
