"""The broker a test run shares, what hypothesis may take, and checks: compiled code is fresh, no process stays behind."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

import psutil
import pytest
from hypothesis import HealthCheck, settings

from services.normalizer.compiled import compiled, stale
from services.sandbox.brokers import container
from services.sandbox.brokers.choose import BrokerChoice, choose
from services.sandbox.brokers.container import ContainerKafka
from services.sandbox.brokers.embedded import EmbeddedBroker
from services.sandbox.brokers.errors import BrokerError, BrokerUnavailable
from services.sandbox.brokers.install import missing as jvm_missing
from services.sandbox.brokers.jvm import JvmKafka

NEEDS_JVM = "jvm_kafka_factory"
# A busy machine makes any example slow, which says nothing of the code.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

_CHOICE = pytest.StashKey[BrokerChoice | BrokerUnavailable]()


@dataclass(frozen=True, slots=True)
class SharedBroker:
    """The run's broker. ``kind`` tells whose behaviour a test may rely on."""

    bootstrap: str
    kind: Literal["kafka", "embedded"]


def pytest_configure(config: pytest.Config) -> None:
    if changed := stale():
        message = f"changed since it was compiled, and would not be tested: {', '.join(changed)}"
        pytest.exit(f"{message}\nRun `make uncompile` or `make compile`.", returncode=pytest.ExitCode.USAGE_ERROR)
    try:
        config.stash[_CHOICE] = choose()
    except BrokerUnavailable as error:
        config.stash[_CHOICE] = error


def pytest_report_header(config: pytest.Config) -> list[str]:
    choice = config.stash[_CHOICE]
    reader = f"normalizer: {'compiled' if compiled() else 'as Python'}"
    if isinstance(choice, BrokerUnavailable):
        return [reader, f"kafka: none, tests that need one will fail: {choice}"]
    lines = [reader, f"kafka: {choice.source} ({choice.why})"]
    if choice.untested:
        lines.append(f"kafka leaves untested: {', '.join(choice.untested)}")
    return lines


def pytest_collection_finish(session: pytest.Session) -> None:
    """Downloads Kafka if a test will need it: here a long download is seen, and is on no test's clock."""
    if session.config.option.collectonly:
        return
    choice = session.config.stash[_CHOICE]
    source = choice.source if isinstance(choice, BrokerChoice) else None
    fixtures = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    progress = reporter.write_line if reporter else print
    try:
        if "kafka" in fixtures and source == "container":
            container.pull(progress)
        if (NEEDS_JVM in fixtures and not jvm_missing()) or ("kafka" in fixtures and source == "jvm"):
            asyncio.run(JvmKafka.prepare(progress))
    except BrokerError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.INTERNAL_ERROR)


@pytest.fixture(scope="session")
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedBroker]:
    """The broker that the whole run shares: name topics and groups with ``topic_prefix``."""
    choice = pytestconfig.stash[_CHOICE]
    if isinstance(choice, BrokerUnavailable):
        pytest.fail(str(choice), pytrace=False)
    if choice.bootstrap is not None:
        yield SharedBroker(choice.bootstrap, choice.kind)
        return
    broker = asyncio.run(_start(choice, tmp_path_factory.mktemp("kafka")))
    try:
        yield SharedBroker(broker.bootstrap, choice.kind)
    finally:
        broker.kill_now()


async def _start(choice: BrokerChoice, folder: Path) -> JvmKafka | EmbeddedBroker | ContainerKafka:
    match choice.source:
        case "jvm":
            return await JvmKafka.start(folder)
        case "container":
            return await ContainerKafka.start(folder)
        case "embedded":
            return await EmbeddedBroker.start(folder)
        case "address":
            raise AssertionError("an address is used, not started")


@pytest.fixture
def topic_prefix(request: pytest.FixtureRequest) -> str:
    """Unique to the test, so that tests that share a broker do not meet; valid at the head of topic and group names."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-")
    return f"{name}-{uuid4().hex[:8]}-"


@pytest.fixture
async def jvm_kafka_factory(
    pytestconfig: pytest.Config, tmp_path: Path
) -> AsyncIterator[Callable[..., Awaitable[JvmKafka]]]:
    """Starts brokers of the test's own, to be killed, paused and restarted: ``broker = await jvm_kafka_factory()``.

    Takes the port and properties of ``JvmKafka.start``. The brokers are killed when the test ends.
    """
    if reason := jvm_missing():
        pytest.skip(f"a broker that can be killed needs Java and Maven: {reason.reason}")
    brokers: list[JvmKafka] = []

    async def start(*, port: int = 0, properties: dict[str, str] | None = None) -> JvmKafka:
        folder = tmp_path / f"kafka-{len(brokers)}"
        broker = await JvmKafka.start(folder, port=port, properties=properties)
        brokers.append(broker)
        return broker

    yield start
    for broker in brokers:
        await broker.kill()


@pytest.fixture(autouse=True)
def _no_process_survives_its_test() -> Iterator[None]:
    me = psutil.Process()
    before = {child.pid for child in me.children()}
    yield
    left = [child for child in me.children() if child.pid not in before]
    left = [child for child in left if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    if left:
        names = [" ".join(child.cmdline())[:200] for child in left]
        for child in left:
            child.kill()
        pytest.fail(f"the test left processes behind: {names}", pytrace=False)
