"""A local Discord for each test, and discord.py pointed at it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import discord
import pytest
import yarl

from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import Address, SandboxConfig, SandboxDiscord

Start = Callable[[SandboxConfig], Awaitable[SandboxDiscord]]
Run = Callable[[discord.Client], AbstractAsyncContextManager[None]]

TOKEN = "sandbox-token"


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
def address(sandbox: SandboxDiscord) -> Address:
    assert sandbox.address is not None
    return sandbox.address


@pytest.fixture
async def rest_client() -> AsyncIterator[Callable[[], Awaitable[discord.Client]]]:
    """Logs in clients that use REST alone."""
    clients = list[discord.Client]()

    async def log_in() -> discord.Client:
        client = discord.Client(intents=discord.Intents.none())
        clients.append(client)
        await client.login(TOKEN)
        return client

    yield log_in
    for client in clients:
        await client.close()


@pytest.fixture
def running() -> Run:
    return _running


@asynccontextmanager
async def _running(client: discord.Client) -> AsyncIterator[None]:
    """`client` logged in and ready; closed afterwards. An error that ends it early is raised here."""
    setup = asyncio.Event()
    inherited = client.setup_hook

    async def setup_hook() -> None:
        await inherited()
        setup.set()

    client.setup_hook = setup_hook
    run = asyncio.create_task(client.start(TOKEN))

    async def ready() -> None:
        await setup.wait()
        await client.wait_until_ready()

    waiting = asyncio.create_task(ready())
    await asyncio.wait({run, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if run.done():
        waiting.cancel()
        await client.close()
        await run
    try:
        yield
    finally:
        await client.close()
        await run
