"""The local Discord as one server: REST, gateway, attachments and the control API on one port."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from services.sandbox.discord.control.api import Control
from services.sandbox.discord.faults import Away, Faults
from services.sandbox.discord.gateway.service import Gateway
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.limits import Limits, LimitsConfig
from services.sandbox.discord.rest import commands, interactions, messages, users, webhooks
from services.sandbox.discord.rest.adapter import RestAdapter
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World, WorldConfig

API_PATH = "/api/v10"
_IDENTIFIES_A_DAY = 1_000
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """`shards` is what /gateway/bot recommends; `heartbeat_s` the interval that gateway clients are told.

    `public_url` is what clients are told to come back to, if that is not where this listens ("http://discord:8080").
    """

    world: WorldConfig = field(default_factory=WorldConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    shards: int = 1
    heartbeat_s: float = 41.25
    public_url: str | None = None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a local Discord is; `url` has no slash at its end."""

    url: str
    port: int

    @property
    def api_url(self) -> str:
        """What a client takes for Discord's REST API."""
        return self.url + API_PATH

    @property
    def gateway_url(self) -> str:
        """What a client takes for Discord's gateway."""
        return "ws" + self.url.removeprefix("http") + "/gateway/"


class SandboxDiscord:
    """A local Discord; between `start` and `stop` clients can log in to it. One object starts once."""

    def __init__(self, config: SandboxConfig | None = None) -> None:
        self.config = config or SandboxConfig()
        self.world = World(self.config.world, now_ms=lambda: time.time_ns() // 1_000_000)
        self.faults = Faults()
        self.limits = Limits(self.config.limits)
        self.gateway = Gateway(self.world, self.faults, self.config.heartbeat_s)
        self.address: Address | None = None
        self._runner: web.AppRunner | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen; port 0 takes a free one."""
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        self._runner = runner
        bound: int = runner.addresses[0][1]
        address = Address(self.config.public_url or f"http://{host}:{bound}", bound)
        self.address = address
        self.gateway.url = address.gateway_url
        self.world.render.base_url = address.url
        return address

    async def stop(self) -> None:
        if self._runner is not None:
            self.gateway.cut_all()
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def go_away(self, seconds: float, how: Away = "cut") -> None:
        """For a while drop every connection, or answer 503; all gateway connections break now."""
        self.gateway.go_away(seconds, how)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=1024 * 1024)
        rest = RestAdapter(self.world, self.limits, self.faults, API_PATH)
        own = (
            Endpoint("GET", "/gateway/bot", self._gateway_info, "gateway"),
            Endpoint("GET", "/gateway", self._gateway_url, "gateway", open=True),
        )
        for table in (own, *(one.ENDPOINTS for one in (users, messages, commands, interactions, webhooks))):
            for endpoint in table:
                rest.add_to(app, endpoint)
        app.router.add_route("*", API_PATH + "/{path:.*}", rest.refuse_unknown)
        app.router.add_get("/attachments/{channel_id}/{attachment_id}/{filename}", self._attachment)
        Control(self.world, self.faults, self.gateway).add_to(app)
        for path in ("/", "/gateway", "/gateway/"):
            app.router.add_get(path, self.gateway.handle)
        return app

    def _gateway_url(self, world: World, call: Call) -> JsonValue:
        del world, call
        return {"url": self.gateway.url}

    def _gateway_info(self, world: World, call: Call) -> JsonValue:
        del world, call
        return {
            "url": self.gateway.url,
            "shards": self.config.shards,
            "session_start_limit": {
                "total": _IDENTIFIES_A_DAY,
                "remaining": max(0, _IDENTIFIES_A_DAY - self.gateway.sessions.started),
                "reset_after": _DAY_MS,
                "max_concurrency": 1,
            },
        }

    async def _attachment(self, request: web.Request) -> web.Response:
        wanted = request.match_info["attachment_id"]
        content = self.world.posting.attachments.content(int(wanted)) if wanted.isdecimal() else None
        if content is None:
            raise web.HTTPNotFound
        return web.Response(body=content, content_type="application/octet-stream")


async def serve(
    host: str, port: int, config: SandboxConfig | None = None, *, started: Callable[[Address], None] | None = None
) -> None:
    """Run a local Discord until this is cancelled; `started` is told its address once it listens."""
    async with SandboxDiscord(config) as server:
        address = await server.start(host, port)
        if started is not None:
            started(address)
        await asyncio.Event().wait()
