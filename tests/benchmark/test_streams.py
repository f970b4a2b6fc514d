"""`odradek bench streams` as a person runs it: one real provider process on the embedded broker."""

import asyncio
import json
import sys


async def test_bench_streams_prints_memory_stops_and_the_waits_of_both_phases() -> None:
    options = ["--idle", "6", "--stops", "2", "--flood", "5", "--asks", "2", "--first-byte", "0.05", "--json"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli", "bench", "streams", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, progress = await process.communicate()
    assert process.returncode == 0, progress.decode()
    figures = json.loads(printed)
    assert figures["idle"]["streams"] == 6
    assert figures["idle"]["rss_mib"] >= figures["idle"]["rss_before_mib"] > 10
    assert figures["idle"]["stop_to_closed_ms"]["count"] == 2
    assert figures["shares"]["calls"] == 5
    assert figures["shares"]["alone_ms"]["p50"] >= 50
    assert figures["shares"]["beside_ms"]["count"] == 2
