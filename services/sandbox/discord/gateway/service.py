"""All gateway connections: opening them, and closing them on purpose."""

import asyncio
from typing import Literal

from aiohttp import web

from services.sandbox.discord.faults import Away, Faults
from services.sandbox.discord.gateway.connection import Connection
from services.sandbox.discord.gateway.sessions import Sessions
from services.sandbox.discord.rest.adapter import cut, failed
from services.sandbox.discord.world import World

Parting = Literal["close", "cut", "reconnect"]


class Gateway:
    """`heartbeat_s` is the interval that clients are told."""

    def __init__(self, world: World, faults: Faults, heartbeat_s: float) -> None:
        self._world = world
        self._faults = faults
        self._heartbeat_s = heartbeat_s
        self._connections = set[Connection]()
        self.sessions = Sessions(world)
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        away = self._faults.away(asyncio.get_running_loop().time())
        if away is not None:
            return cut(request) if away == "cut" else failed(503, {})
        compress = "zlib-stream" if request.query.get("compress") == "zlib-stream" else None
        connection = Connection(self._world, self.sessions, self.url, self._heartbeat_s, compress)
        self._connections.add(connection)
        try:
            return await connection.serve(request)
        finally:
            self._connections.discard(connection)

    async def disconnect(
        self, how: Parting = "close", *, code: int = 4000, resumable: bool = True, shard: int | None = None
    ) -> int:
        """Part from the connected clients, or from those of one shard; returns how many there were.

        "close" sends `code`, "cut" drops the connection without a word, "reconnect" asks the client to come back.
        Without `resumable` their sessions are forgotten, so that a resume is refused.
        """
        parted = [one for one in self._connections if one.session is not None and shard in (None, one.session.shard)]
        for connection in parted:
            if not resumable and connection.session is not None:
                self.sessions.forget(connection.session)
            match how:
                case "close":
                    await connection.close(code)
                case "cut":
                    connection.cut()
                case "reconnect":
                    await connection.ask_to_reconnect()
        return len(parted)

    def go_away(self, seconds: float, how: Away) -> None:
        """For a while drop every connection, REST too, or answer 503; all gateway connections break now."""
        self._faults.go_away(how, asyncio.get_running_loop().time() + seconds)
        self.cut_all()

    def cut_all(self) -> None:
        for connection in self._connections:
            connection.cut()
