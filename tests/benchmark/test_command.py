"""`odradek bench` as a person runs it, on a broker of its own: the figures, and nothing else on standard output."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable

from services.sandbox.brokers.jvm import JvmKafka


async def test_bench_turns_prints_its_figures_as_json_and_its_progress_elsewhere(
    jvm_kafka_factory: Callable[..., Awaitable[JvmKafka]],
) -> None:
    broker = await jvm_kafka_factory()
    options = ["--turns", "2", "--rate", "100", "--seconds", "3", "--races", "1", "--partitions", "2"]
    options += ["--skip-search", "--json", "--kafka", broker.bootstrap]
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "services.cli",
            "bench",
            "turns",
            *options,
            "--skip-search",
            "--json",
            "--kafka",
            broker.bootstrap,
        ),
        env={**os.environ, "COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, progress = await process.communicate()
    assert process.returncode == 0, progress.decode()
    figures = json.loads(output)
    for name in ("added_latency_ms", "first_token_added_ms", "stop_to_closed_ms"):
        assert 0 < figures[name]["p50"] <= figures[name]["p99"]
    assert figures["max_turns"] is None
    assert figures["cpu_ms_per_turn"] > 0
    assert figures["broker"] == f"the cluster at {broker.bootstrap}"
    assert figures["records_per_turn_of"]["raw"] > 8
    rows = {row["race"]: row for row in figures["stop_races"]}
    assert set(rows) == {
        "before the prompt is read",
        "before the first byte",
        "in mid-stream",
        "after the end",
        "the turn after a stop",
        "during a rebalance",
    }
    assert rows["in mid-stream"]["to_closed_ms"]["count"] == 1
    assert rows["after the end"]["to_closed_ms"]["count"] == 0
    assert b"odradek: " in progress


async def test_bench_fairness_prints_for_each_hostility_what_the_others_waited(
    jvm_kafka_factory: Callable[..., Awaitable[JvmKafka]],
) -> None:
    broker = await jvm_kafka_factory()
    options = ["--channels", "3", "--rounds", "1", "--seconds", "1", "--every", "1", "--first-byte", "0.1"]
    options += ["--partitions", "2", "--only", "refused_history", "--only", "endless_stream", "--json"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli", "bench", "fairness", *options, "--kafka", broker.bootstrap),
        env={**os.environ, "COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, progress = await process.communicate()
    assert process.returncode == 0, progress.decode()
    figures = json.loads(output)
    assert figures["channels_of"] == {"same partition": 1, "elsewhere": 1, "same guild": 1}
    assert [row["hostility"] for row in figures["hostilities"]] == ["refused_history", "endless_stream"]
    for row in figures["hostilities"]:
        assert row["quiet_ms"]["turns"] >= 3
        assert row["hostile_ms"]["turns"] >= 3
        assert row["quiet_ms"]["p50"] > 100
        assert row["hostile_messages"] >= 1
        assert isinstance(row["within_20_percent"], bool)
    assert b"odradek: " in progress
