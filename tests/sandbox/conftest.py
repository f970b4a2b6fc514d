"""A local Discord for each test, and discord.py pointed at it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import discord
import pytest
import yarl

from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord

TOKEN = "sandbox-token"

Start = Callable[[SandboxConfig], Awaitable[SandboxDiscord]]
Run = Callable[[discord.Client], AbstractAsyncContextManager[None]]


@pytest.fixture
async def start_sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Starts local Discords; discord.py talks to the newest one."""
    servers = list[SandboxDiscord]()

    async def start(config: SandboxConfig) -> SandboxDiscord:
        server = SandboxDiscord(config)
        servers.append(server)
        address = await server.start()
        monkeypatch.setattr(discord.http.Route, "BASE", address.api_url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(address.gateway_url))
        return server

    yield start
    for server in servers:
        await server.stop()


@pytest.fixture
async def sandbox(start_sandbox: Start) -> SandboxDiscord:
    """A local Discord without rate limits."""
    return await start_sandbox(SandboxConfig(limits=LimitsConfig(enabled=False)))


@pytest.fixture
def running() -> Run:
    return _running


@asynccontextmanager
async def _running(client: discord.Client) -> AsyncIterator[None]:
    """`client` logged in and ready; closed afterwards. An error that ends it is raised here."""
    run = asyncio.create_task(client.start(TOKEN))
    while client.http.token is None and not run.done():
        await asyncio.sleep(0)
    ready = asyncio.create_task(client.wait_until_ready())
    await asyncio.wait({run, ready}, return_when=asyncio.FIRST_COMPLETED)
    if run.done():
        ready.cancel()
        await run
    try:
        yield
    finally:
        await client.close()
        await run
