"""The health port says from the start what is missing, and a port in use is an error with a remedy."""

import aiohttp
import pytest

from services.runtime.errors import ConfigurationError
from services.runtime.health import Health
from services.runtime.metrics import REBALANCES


async def get(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text()


async def test_readiness_names_what_is_missing_while_the_process_lives() -> None:
    health = Health()
    missing: dict[str, str | None] = {"kafka": "not connected", "partitions": "none assigned yet"}
    for name in missing:
        health.add(name, lambda name=name: missing[name])
    port = await health.start("127.0.0.1", 0)
    try:
        assert await get(port, "/livez") == (200, "ok\n")
        assert await get(port, "/readyz") == (503, "kafka: not connected\npartitions: none assigned yet\n")
        missing["kafka"] = None
        assert await get(port, "/readyz") == (503, "partitions: none assigned yet\n")
        missing["partitions"] = None
        assert await get(port, "/readyz") == (200, "ready\n")
    finally:
        await health.stop()


async def test_metrics_are_in_prometheus_format() -> None:
    health = Health()
    port = await health.start("127.0.0.1", 0)
    try:
        REBALANCES.inc()
        status, text = await get(port, "/metrics")
        assert status == 200
        assert "# TYPE odradek_rebalances_total counter" in text
    finally:
        await health.stop()


async def test_a_port_in_use_is_an_error_that_says_what_to_do() -> None:
    first, second = Health(), Health()
    port = await first.start("127.0.0.1", 0)
    try:
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}") as error:
            await second.start("127.0.0.1", port)
        assert "ODRADEK_HTTP_PORT" in error.value.remedy
    finally:
        await first.stop()
        await second.stop()
