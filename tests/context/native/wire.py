"""A local server that keeps what a client of a provider puts on the wire."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Wire:
    """`bodies`, `paths` and `headers` of the requests so far."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@asynccontextmanager
async def listening(stream: str) -> AsyncIterator[Wire]:
    """The server; it answers every POST with the stream."""
    wire = Wire()

    async def answer(request: web.Request) -> web.Response:
        wire.bodies.append(json.loads(await request.read()))
        wire.paths.append(request.path_qs)
        wire.headers.append({name.lower(): value for name, value in request.headers.items()})
        return web.Response(text=stream, content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    wire.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
    try:
        yield wire
    finally:
        await runner.cleanup()
