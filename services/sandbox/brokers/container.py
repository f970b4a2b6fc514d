"""Apache Kafka in a container, through testcontainers, where a Docker engine answers and has or can pull the image."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from services.sandbox.brokers.errors import BrokerFailed, BrokerUnavailable, last_words
from services.sandbox.brokers.install import Progress, kafka_version, settings_without_addresses

if TYPE_CHECKING:
    from docker import DockerClient as DockerEngine
    from testcontainers.core.container import DockerContainer

IMAGE = f"apache/kafka:{kafka_version()}"

_CLIENT_PORT, _BROKER_PORT, _CONTROLLER_PORT = 9092, 19092, 29093
_SCRIPT = "/tmp/start-with-address.sh"  # noqa: S108 - inside the container
_ENGINE_ANSWERS_S = 5
_START_TIMEOUT_S = 120


def missing(image: str = IMAGE) -> BrokerUnavailable | None:
    """What keeps this machine from running the image, or None. Starts and pulls nothing."""
    try:
        from docker.errors import (
            APIError,
            DockerException,
        )  # here and below, as tests bring it and the product does not
        from testcontainers.core.docker_client import DockerClient
    except ImportError:
        return BrokerUnavailable(
            "the Python package testcontainers is not installed", "pip install 'odradek[test]', or make test"
        )
    try:
        client = DockerClient(timeout=_ENGINE_ANSWERS_S).client
        client.ping()  # pyright: ignore[reportUnknownMemberType] - docker has no types
    except (DockerException, OSError):
        return BrokerUnavailable("no Docker engine answers", "start Docker, or point DOCKER_HOST at an engine")
    with contextlib.closing(client):
        for name in _absent(client, image):
            try:
                client.images.get_registry_data(name)  # pyright: ignore[reportUnknownMemberType]
            except (APIError, OSError):
                without = "" if name == image else ", or set TESTCONTAINERS_RYUK_DISABLED=true to do without it"
                return BrokerUnavailable(
                    f"the image {name} is neither on the Docker engine nor to be pulled from its registry",
                    f"docker pull {name}, where a registry can be reached{without}",
                )
    return None


def pull(progress: Progress, image: str = IMAGE) -> None:
    """Pulls what ``missing`` found to be pullable, if anything; says so before. Raises the engine's own errors."""
    from testcontainers.core.docker_client import DockerClient

    with contextlib.closing(DockerClient().client) as client:
        for name in _absent(client, image):
            progress(f"pulling the image {name} (once)")
            client.images.pull(name)


def _absent(client: "DockerEngine", image: str) -> Iterator[str]:
    """The images that the engine lacks: Kafka's, and that of the helper which removes the containers of killed runs."""
    from docker.errors import ImageNotFound
    from testcontainers.core.config import testcontainers_config

    for name in [image] if testcontainers_config.ryuk_disabled else [image, testcontainers_config.ryuk_image]:
        try:
            client.images.get(name)
        except ImageNotFound:
            yield name


class ContainerKafka:
    """A running broker in a container. It is removed with its data when it is stopped."""

    def __init__(self, container: "DockerContainer") -> None:
        """For ``start``."""
        self._container = container
        self.bootstrap = f"{container.get_container_host_ip()}:{container.get_exposed_port(_CLIENT_PORT)}"

    @classmethod
    async def start(cls, directory: Path, *, image: str = IMAGE) -> Self:
        """Starts the image and returns when it serves.

        directory: takes the container's log if it fails. Raises BrokerUnavailable as ``missing`` tells, and
        BrokerFailed once the container has been started; the engine's own errors are raised as they come.
        """
        if reason := await asyncio.to_thread(missing, image):
            raise reason
        return cls(await asyncio.to_thread(_run, image, directory))

    async def stop(self) -> None:
        """Removes the container."""
        await asyncio.to_thread(self.kill_now)

    def kill_now(self) -> None:
        """Removes the container, for owners without an event loop."""
        self._container.stop()


def _run(image: str, directory: Path) -> "DockerContainer":
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    # Clients are told the address on which Docker publishes the port. It is known once the container runs, and Kafka
    # reads it once, at its start: so the container waits for a script that carries it.
    wait_then_run = f"while [ ! -x {_SCRIPT} ]; do sleep 0.1; done; exec {_SCRIPT}"
    container = DockerContainer(image).with_exposed_ports(_CLIENT_PORT).with_command(["sh", "-c", wait_then_run])
    for name, value in (settings_without_addresses() | _addresses()).items():
        container.with_env(f"KAFKA_{name.replace('.', '_').upper()}", value)
    try:
        container.start()
        address = f"{container.get_container_host_ip()}:{container.get_exposed_port(_CLIENT_PORT)}"
        advertised = f"PLAINTEXT://{address},BROKER://localhost:{_BROKER_PORT}"
        script = f"#!/bin/sh\nexport KAFKA_ADVERTISED_LISTENERS={advertised}\nexec /etc/kafka/docker/run\n"
        container.copy_into_container(script.encode(), _SCRIPT, 0o755)
        started = LogMessageWaitStrategy("Kafka Server started").with_startup_timeout(_START_TIMEOUT_S)
        try:
            started.wait_until_ready(container)
        except (RuntimeError, TimeoutError) as error:
            log = directory / "kafka-container.log"
            log.write_bytes(b"".join(container.get_logs()))
            raise BrokerFailed(f"Kafka did not start in its container: {last_words(log.read_bytes())}", log) from error
    except BaseException:
        container.stop()
        raise
    return container


def _addresses() -> dict[str, str]:
    return {
        "listeners": f"PLAINTEXT://:{_CLIENT_PORT},BROKER://:{_BROKER_PORT},CONTROLLER://:{_CONTROLLER_PORT}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "controller.quorum.voters": f"1@localhost:{_CONTROLLER_PORT}",
        "log.dirs": "/tmp/kafka-data",  # noqa: S108 - inside the container
    }
