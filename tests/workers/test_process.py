"""A worker's process from its start to its end: signals, a broker that is not there, topics that are not as declared."""

import asyncio
import os
import signal
import sys
from typing import Any

import pytest

from schemas.inbox import DeliveryReceipt, Sent
from services.orchestrator.state import ChannelState, to_snapshot
from services.runtime.kafka.admin import connect_admin, provision
from services.runtime.log import NewRecord
from services.runtime.outputs import output
from services.sandbox.brokers.ports import free_port
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.memories import read_memories

PARTITIONS = 4


async def test_sigterm_ends_a_worker_with_its_work_committed_and_exit_code_0(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox")
    worker = await cluster.spawn("normalizer")
    await worker.said('"event": "assigned"')
    channel = channels_of(0, 1)[0]
    await cluster.send(*new_stream(channel, "m1").whole(["one ", "two"]))
    await cluster.until(lambda: len(cluster.records["inbox"]) == 4, "four batches")
    status, text = await worker.get("/readyz")
    assert (status, text) == (200, "ready\n")
    assert (await worker.get("/livez"))[0] == 200
    assert 'odradek_records_read_total{topic="raw"} 4.0' in (await worker.get("/metrics"))[1]
    worker.process.send_signal(signal.SIGTERM)
    assert await worker.ended() == 0, worker.text
    await worker.said('"event": "ended"')
    # Nothing is read again by the next one, since all of it was committed.
    after = await cluster.spawn("normalizer")
    await after.said('"event": "assigned"')
    await cluster.send(*new_stream(channel, "m2").whole(["three"]))
    await cluster.until(lambda: len(cluster.records["inbox"]) >= 7, "three more batches")
    assert len(cluster.records["inbox"]) == 7


async def test_an_orchestrator_tells_in_its_log_which_snapshots_it_took_over(cluster: Any, channels_of: Any) -> None:
    clock = RunClock()
    channel, other = channels_of(0, 1)[0], channels_of(2, 1)[0]
    written = [to_snapshot(ChannelState(channel_id=name), settled) for name, settled in ((channel, 0), (other, 1))]
    await cluster.send(*(output("channels", s, channel=s.channel_id, event_id=s.channel_id) for s in written))
    await cluster.send(*(event(name, number) for name in (channel, other) for number in range(2)))
    worker = await cluster.spawn("orchestrator", instance="orchestrator-0")
    await worker.said('"event": "snapshots loaded"')
    memories = read_memories([[line.encode() for line in worker.lines]], clock, PARTITIONS)
    assert {(load.channel, load.settled) for load in memories.loads} == {(channel, 0), (other, 1)}
    assert all(load.settled < load.end and 0 <= load.at <= clock.now() for load in memories.loads)
    assert memories.kept == []


def event(channel: str, number: int) -> NewRecord:
    """Something that stands in the inbox and changes nothing."""
    receipt = DeliveryReceipt(turn="m1", sequence=number, outcome=Sent())
    return output("inbox", receipt, channel=channel, event_id=f"receipt:m1:{number}", turn="m1")


_TOLD_AT_WORK = """
import gc, sys
from services.cli.main import main
from services.runtime.assembly import Assembly

async def until(self, stop):
    print(gc.get_freeze_count(), len(gc.get_objects()))

Assembly.until = until
sys.argv = ["odradek", "worker", "normalizer"]
main()
"""


async def test_a_full_collection_looks_at_nothing_that_was_loaded_at_the_start(cluster: Any) -> None:
    own = {"ODRADEK_KAFKA": cluster.settings.kafka, "ODRADEK_BROKER": cluster.settings.broker}
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TOLD_AT_WORK,
        env=os.environ | own | {"ODRADEK_PREFIX": cluster.settings.prefix},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await worker.communicate()
    assert worker.returncode == 0, err.decode()
    spared, looked_at = map(int, out.split())
    assert spared > 50_000
    assert looked_at < spared / 50


async def test_a_worker_without_a_broker_waits_says_so_and_still_ends_at_sigterm(spawn_worker: Any) -> None:
    address = f"127.0.0.1:{free_port()}"
    worker = await spawn_worker("normalizer", kafka=address)
    await worker.said("waiting for Kafka")
    assert (await worker.get("/livez"))[0] == 200
    status, text = await worker.get("/readyz")
    assert status == 503
    assert f"kafka: not connected to {address} yet" in text
    worker.process.send_signal(signal.SIGTERM)
    assert await worker.ended() == 0
    assert "Traceback" not in worker.text


async def test_a_worker_ends_at_sigterm_although_the_broker_takes_connections_and_never_answers(
    spawn_worker: Any,
) -> None:
    connected = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(never_answer, "127.0.0.1", 0)
    async with server:
        worker = await spawn_worker("normalizer", kafka=f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await connected.wait()
        assert (await worker.get("/readyz"))[0] == 503
        worker.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(8):
            assert await worker.process.wait() == 0
        await worker.said('"event": "ended"')


async def test_missing_topics_are_an_error_that_says_how_to_make_them(kafka: Any, spawn_worker: Any) -> None:
    worker = await spawn_worker("normalizer", kafka=kafka.bootstrap, broker=kafka.kind, prefix="nothing-here-")
    assert await worker.ended() == 1
    await worker.said("odradek topics create")
    assert "'nothing-here-inbox'" in worker.text
    assert "Traceback" not in worker.text


async def test_channel_topics_of_different_sizes_are_an_error_that_names_them(cluster: Any, spawn_worker: Any) -> None:
    prefix = f"{cluster.settings.prefix}odd-"
    settings = cluster.settings.model_copy(update={"prefix": prefix})
    only_raw = cluster.topics.model_copy(update={"topics": {"raw": cluster.topics.topics["raw"]}})
    rest = {name: spec for name, spec in cluster.topics.topics.items() if name != "raw"}
    await provision(settings, only_raw, partitions=2)
    await provision(settings, cluster.topics.model_copy(update={"topics": rest}), partitions=3)
    async with connect_admin(settings) as admin:
        assert (await admin.topics())["raw"].partitions == 2
    worker = await spawn_worker("normalizer", kafka=settings.kafka, broker=settings.broker, prefix=prefix)
    assert await worker.ended() == 1
    await worker.said("differ in their number of partitions")
    await worker.said("odradek topics check")


async def test_a_second_process_in_a_held_slot_is_refused(spawn_worker: Any, topic_prefix: str) -> None:
    slot = {"instance": topic_prefix.strip("-")[-30:], "exclusive_instance": True, "kafka": f"127.0.0.1:{free_port()}"}
    first = await spawn_worker("normalizer", **slot)
    await first.said("waiting for Kafka")
    second = await spawn_worker("normalizer", **slot)
    assert await second.ended() == 2
    await second.said(f"pid {first.process.pid}")
    assert "ODRADEK_INSTANCE" in second.text


@pytest.mark.parametrize("number", [signal.SIGINT])
async def test_ctrl_c_ends_a_worker_as_sigterm_does(spawn_worker: Any, number: signal.Signals) -> None:
    worker = await spawn_worker("normalizer", kafka=f"127.0.0.1:{free_port()}")
    await worker.said("waiting for Kafka")
    worker.process.send_signal(number)
    assert await worker.ended() == 0
    assert "Traceback" not in worker.text
