"""A local Discord, a gateway connected to it, and a log that keeps what it is given."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import discord
import pytest

from schemas.base import Record
from schemas.headers import Facts
from schemas.registry import decode
from services.gateway.client import GatewayClient
from services.gateway.connection import Connection, Patience
from services.gateway.intake import Intake
from services.gateway.stops import Stops
from services.gateway.watermarks import Watermarks
from services.runtime.log import Appended, NewRecord
from services.runtime.settings import Settings
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord

TOKEN = "sandbox-token"


class KeptLog:
    """Stands for the sender: keeps records in order, and acknowledges them at once unless told to wait."""

    def __init__(self) -> None:
        self.records: list[NewRecord] = []
        self.silent: set[str] = set()
        self._open: list[tuple[str, asyncio.Future[Appended]]] = []
        self._grown = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self.records.append(new)
        self._open.append((new.topic, future))
        self._settle()
        task = asyncio.create_task(self._tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return future

    def answer(self) -> None:
        """Acknowledge everything, from now on too."""
        self.silent.clear()
        self._settle()

    async def of(self, topic: str, count: int) -> list[tuple[Facts, Record]]:
        """The topic's records once there are `count` of them."""
        async with asyncio.timeout(10), self._grown:
            await self._grown.wait_for(lambda: len(self._in(topic)) >= count)
        return [decode(new.headers, new.value) for new in self._in(topic)]

    def _in(self, topic: str) -> list[NewRecord]:
        return [new for new in self.records if new.topic == topic]

    def _settle(self) -> None:
        for topic, future in self._open:
            if topic not in self.silent and not future.done():
                future.set_result(Appended(partition=0, offset=0))
        self._open = [(topic, future) for topic, future in self._open if not future.done()]

    async def _tell(self) -> None:
        async with self._grown:
            self._grown.notify_all()


@dataclass
class Gateway:
    """A gateway process's parts, as its worker binds them."""

    settings: Settings
    log: KeptLog
    intake: Intake
    connection: Connection
    running: asyncio.Task[None]
    clients: list[GatewayClient]


StartGateway = Callable[..., Gateway]


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SandboxDiscord]:
    """A local Discord without rate limits; discord.py forgets its address afterwards."""
    for owner, name in ((discord.http.Route, "BASE"), (discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    async with SandboxDiscord(SandboxConfig(limits=LimitsConfig(enabled=False))) as server:
        yield server


@pytest.fixture
async def settings(sandbox: SandboxDiscord) -> Settings:
    address = await sandbox.start()
    return Settings(discord_token=TOKEN, discord_api=address.api_url, discord_gateway=address.gateway_url)


@pytest.fixture
def log() -> KeptLog:
    return KeptLog()


@pytest.fixture
async def start_gateway(settings: Settings, log: KeptLog) -> AsyncIterator[StartGateway]:
    """Starts gateways; those that still run when the test ends are ended."""
    gateways: list[Gateway] = []

    def start(
        watermarks: Watermarks | None = None, own: Settings = settings, patience: Patience | None = None
    ) -> Gateway:
        intake = Intake(log.send, watermarks or Watermarks(), retry_s=0.01)
        stops = Stops(log.send)
        clients: list[GatewayClient] = []

        def new_client() -> GatewayClient:
            shard_id, shard_count = own.shard
            clients.append(GatewayClient(intake, stops, shard_id=shard_id, shard_count=shard_count))
            return clients[-1]

        connection = Connection(own, new_client, patience or Patience(first_wait_s=0.01, longest_wait_s=0.05))
        running = asyncio.create_task(connection.run())
        gateway = Gateway(own, log, intake, connection, running, clients)
        gateways.append(gateway)
        return gateway

    yield start
    for gateway in gateways:
        gateway.running.cancel()
        await asyncio.gather(gateway.running, return_exceptions=True)
        await gateway.intake.close()


@pytest.fixture
async def gateway(start_gateway: StartGateway, sandbox: SandboxDiscord) -> Gateway:
    """A gateway with a session."""
    started = start_gateway()
    await sandbox.world.wait_for(lambda entry: entry.kind == "session_start", 10)
    return started
