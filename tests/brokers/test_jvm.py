"""Apache Kafka on the local Java, started for real."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from services.sandbox.brokers import install
from services.sandbox.brokers.errors import BrokerFailed, BrokerUnavailable, PortInUse
from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.brokers.readiness import serves

Factory = Callable[..., Awaitable[JvmKafka]]


async def _create(bootstrap: str, topic: str, configs: dict[str, str] | None = None) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        answer = await admin.create_topics([NewTopic(topic, 1, 1, topic_configs=configs or {})])
        assert [error for _, error, *_ in answer.topic_errors] == [0]
    finally:
        await admin.close()


async def _read(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    partition = TopicPartition(topic, 0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, max_partition_fetch_bytes=9 << 20
    )
    async with consumer:
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await consumer.getone()).value for _ in range(count)]


async def test_a_killed_broker_comes_back_with_every_acknowledged_record(jvm_kafka_factory: Factory) -> None:
    broker = await jvm_kafka_factory()
    await _create(broker.bootstrap, "events")
    values = [b"%d" % number for number in range(200)]
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, enable_idempotence=True) as producer:
        await asyncio.gather(*[await producer.send("events", value) for value in values[:100]])
    await broker.kill()
    assert not broker.running
    await broker.restart()
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, enable_idempotence=True) as producer:
        await asyncio.gather(*[await producer.send("events", value) for value in values[100:]])
    assert await _read(broker.bootstrap, "events", 200) == values


async def test_a_paused_broker_accepts_and_does_not_answer_until_it_is_resumed(jvm_kafka_factory: Factory) -> None:
    broker = await jvm_kafka_factory()
    broker.pause()
    asking = asyncio.create_task(serves("127.0.0.1", broker.port))
    assert await asking is False
    broker.resume()
    assert await serves("127.0.0.1", broker.port)
    broker.pause()
    await broker.stop()
    assert not broker.running


async def test_properties_override_and_topics_may_hold_records_of_8_mib(jvm_kafka_factory: Factory) -> None:
    broker = await jvm_kafka_factory(properties={"auto.create.topics.enable": "true"})
    await _create(broker.bootstrap, "large", {"max.message.bytes": str(9 << 20)})
    large = b"x" * (8 << 20)
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, max_request_size=9 << 20) as producer:
        await producer.send_and_wait("large", large)
        await producer.send_and_wait("made-by-the-first-record", b"1")
    assert await _read(broker.bootstrap, "large", 1) == [large]


async def test_a_folder_is_continued_by_a_later_start_on_another_port(
    jvm_kafka_factory: Factory, tmp_path: Path
) -> None:
    first = await jvm_kafka_factory()
    await _create(first.bootstrap, "events")
    async with AIOKafkaProducer(bootstrap_servers=first.bootstrap) as producer:
        await producer.send_and_wait("events", b"kept")
    await first.stop()
    second = await JvmKafka.start(first.directory)
    try:
        assert second.port != first.port
        assert await _read(second.bootstrap, "events", 1) == [b"kept"]
        with pytest.raises(PortInUse):
            await jvm_kafka_factory(port=second.port)
    finally:
        await second.kill()


async def test_a_broker_that_refuses_its_settings_fails_with_its_last_words(jvm_kafka_factory: Factory) -> None:
    with pytest.raises(BrokerFailed, match=r"num\.partitions"):
        await jvm_kafka_factory(properties={"num.partitions": "none"})


def _java(folder: Path, answer: str, code: int = 0) -> None:
    folder.mkdir()
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n[ $1 = -version ] || exit 9\necho '{answer}' >&2\nexit {code}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("answer", "code", "reason"),
    [
        (None, 0, "Java is not installed"),
        ('openjdk version "11.0.2" 2019-01-15', 0, "Java 11.0.2 is too old"),
        ('java version "1.8.0_391"', 0, "Java 8.0_391 is too old"),
        ("Unable to locate a Java Runtime.", 1, "does not run"),
    ],
)
async def test_a_missing_or_old_java_is_named_with_its_remedy(
    answer: str | None, code: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer is not None:
        _java(tmp_path / "bin", answer, code)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BrokerUnavailable, match=reason) as caught:
        await JvmKafka.start(tmp_path / "kafka")
    assert "apt install openjdk-17" in caught.value.remedy


async def test_without_jars_a_missing_maven_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _java(tmp_path / "bin", 'openjdk version "21" 2023-09-19')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(BrokerUnavailable, match="Maven is not installed") as caught:
        await JvmKafka.prepare()
    assert "apt install maven" in caught.value.remedy


async def test_a_failed_download_leaves_nothing_that_looks_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _java(tmp_path / "bin", 'openjdk version "21" 2023-09-19')
    maven = tmp_path / "bin" / "mvn"
    maven.write_text("#!/bin/sh\nmkdir libs\ntouch libs/half.jar\necho '[ERROR] Unknown host repo'\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines: list[str] = []
    with pytest.raises(BrokerUnavailable, match="Unknown host repo") as caught:
        await JvmKafka.prepare(lines.append)
    assert "settings.xml" in caught.value.remedy
    assert [path.name for path in install.cache_folder().iterdir()] == ["lock"]
    assert "fetching Apache Kafka" in lines[0]


async def test_one_downloads_and_the_others_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _java(tmp_path / "bin", 'openjdk version "21" 2023-09-19')
    maven, runs, gate = tmp_path / "bin" / "mvn", tmp_path / "runs", tmp_path / "gate"
    os.mkfifo(gate)
    maven.write_text(f"#!/bin/sh\necho run >>{runs}\ncat {gate}\nmkdir libs\ntouch libs/kafka.jar\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    waits = asyncio.Event()

    def progress(line: str) -> None:
        if "waiting for it" in line:
            waits.set()

    preparing = asyncio.gather(JvmKafka.prepare(progress), JvmKafka.prepare(progress), return_exceptions=True)
    await waits.wait()
    await asyncio.to_thread(gate.write_text, "go")
    first, second = await preparing
    # the java of this test formats nothing: both came as far as that
    assert isinstance(first, BrokerFailed)
    assert isinstance(second, BrokerFailed)
    assert runs.read_text() == "run\n"
    assert (install.cache_folder() / "libs" / "kafka.jar").is_file()
