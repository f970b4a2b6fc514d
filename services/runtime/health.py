"""One HTTP port a process: /livez, /readyz (says what is missing) and /metrics for Prometheus."""

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from services.runtime.errors import ConfigurationError

ReadyCheck = Callable[[], str | None]
"""Says what is missing, or None when the thing is ready."""


class Health:
    """The port. It answers from the start of the process on, so that a slow start can be watched."""

    def __init__(self) -> None:
        self._checks: dict[str, ReadyCheck] = {}
        self._runner: web.AppRunner | None = None

    def add(self, name: str, check: ReadyCheck) -> None:
        """Add a condition of readiness."""
        self._checks[name] = check

    def missing(self) -> dict[str, str]:
        """What is not ready, by name."""
        found = {name: check() for name, check in self._checks.items()}
        return {name: text for name, text in found.items() if text is not None}

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port. Raises ConfigurationError where the address is taken."""
        app = web.Application()
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationError(
                f"cannot listen on {host}:{port}: {error.strerror or error}",
                remedy="set ODRADEK_HTTP_PORT to a free port, or to 0 to have one picked",
            ) from error
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close the port."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _livez(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        missing = self.missing()
        if not missing:
            return web.Response(text="ready\n")
        return web.Response(status=503, text="".join(f"{name}: {text}\n" for name, text in missing.items()))

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
