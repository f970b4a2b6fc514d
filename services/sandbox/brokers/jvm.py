"""Apache Kafka 4 on the local Java: one node, broker and controller in one process, in a folder of its own."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from services.sandbox.brokers.install import KafkaInstall, Progress, install, write_config
from services.sandbox.brokers.ports import claim, free_port
from services.sandbox.brokers.process import BrokerProcess

_START_TIMEOUT_S = 60.0


def _say_nothing(_line: str) -> None:
    pass


class JvmKafka:
    """A running broker. Its records live in its folder and survive stops, kills and restarts."""

    def __init__(self, installed: KafkaInstall, directory: Path, config: Path, port: int, controller_port: int) -> None:
        """For ``start``."""
        self.directory = directory
        self.port = port
        self._controller_port = controller_port
        self._command = installed.java_command("kafka.Kafka", str(config), log4j=directory / "log4j2.properties")
        self._process = BrokerProcess(self._command, log=self.log)

    @classmethod
    async def prepare(cls, progress: Progress = _say_nothing) -> KafkaInstall:
        """Downloads and prepares what a start needs, once per user and version; returns at once when it is there.

        progress takes a line for the person who waits. Raises BrokerUnavailable (no Java 17, no Maven, no network).
        """
        return await install(progress)

    @classmethod
    async def start(
        cls,
        directory: Path,
        *,
        port: int = 0,
        properties: Mapping[str, str] | None = None,
        progress: Progress = _say_nothing,
    ) -> Self:
        """Starts a broker on 127.0.0.1 and returns when it serves.

        directory: its data, configuration and log; one that is already there is continued. port: 0 takes any free one.
        properties: broker settings that override those of ``server.properties.template``.
        Raises BrokerUnavailable, PortInUse or BrokerFailed.
        """
        installed = await cls.prepare(progress)
        directory = directory.resolve()
        port = claim(port)
        controller_port = free_port(other_than=port)
        config = write_config(directory, port=port, controller_port=controller_port, properties=properties or {})
        data = directory / "data"
        if not data.is_dir():
            shutil.copytree(installed.formatted, data)
        broker = cls(installed, directory, config, port, controller_port)
        await broker._process.wait_ready(port, timeout_s=_START_TIMEOUT_S)
        return broker

    @property
    def bootstrap(self) -> str:
        """Its address, HOST:PORT; the same after a restart."""
        return f"127.0.0.1:{self.port}"

    @property
    def controller_port(self) -> int:
        """Where it serves as the cluster's controller."""
        return self._controller_port

    @property
    def log(self) -> Path:
        return self.directory / "broker.log"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.running

    async def stop(self) -> None:
        """Kafka's own shutdown, which takes 1 to 2 s; SIGKILL if it takes 20."""
        await self._process.stop(grace_s=20)

    async def kill(self) -> None:
        """SIGKILL. What was acknowledged is in the page cache and survives."""
        await self._process.kill()

    def kill_now(self) -> None:
        """SIGKILL, for owners without an event loop."""
        self._process.kill_now()

    async def restart(self) -> None:
        """Starts it again on the same port and data, stopping it first if it runs; returns when it serves.

        After a kill that takes until the old session has ended, 3 s or 4.
        """
        if self.running:
            await self.stop()
        claim(self.port)
        claim(self._controller_port)
        self._process = BrokerProcess(self._command, log=self.log)
        await self._process.wait_ready(self.port, timeout_s=_START_TIMEOUT_S)

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nothing answers."""
        self._process.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self._process.resume()
