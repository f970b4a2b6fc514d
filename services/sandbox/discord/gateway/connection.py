"""One websocket of a client: hello, identify or resume, heartbeats, and the session's events.

Source: https://docs.discord.com/developers/events/gateway#connections
"""

import asyncio
import zlib
from typing import Annotated, Literal

import orjson
from aiohttp import WSMsgType, web
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic import JsonValue as PydanticJson

from services.sandbox.discord.gateway import intents as needs
from services.sandbox.discord.gateway.sessions import Session, Sessions
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.world import World

HEARTBEAT = 1
IDENTIFY = 2
PRESENCE = 3
VOICE = 4
RESUME = 6
RECONNECT = 7
MEMBERS = 8
INVALID_SESSION = 9
HELLO = 10
ACK = 11

UNKNOWN_ERROR = 4000
UNKNOWN_OPCODE = 4001
DECODE_ERROR = 4002
NOT_AUTHENTICATED = 4003
AUTHENTICATION_FAILED = 4004
ALREADY_AUTHENTICATED = 4005
SESSION_TIMED_OUT = 4009
INVALID_SHARD = 4010
INVALID_INTENTS = 4013
DISALLOWED_INTENTS = 4014

_CLOSE_S = 1.0
"""How long a client may take to answer a close frame."""


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Frame(_Payload):
    op: int
    d: PydanticJson = None


class _Identify(_Payload):
    token: str
    intents: int
    shard: Annotated[list[int], Field(min_length=2, max_length=2)] = [0, 1]


class _Resume(_Payload):
    token: str
    session_id: str
    seq: int


class Connection:
    """Serves a websocket until either side closes it. `heartbeat_s` is the interval that the client is told."""

    def __init__(
        self,
        world: World,
        sessions: Sessions,
        resume_url: str,
        heartbeat_s: float,
        compress: Literal["zlib-stream"] | None,
    ) -> None:
        self._world = world
        self._sessions = sessions
        self._resume_url = resume_url
        self._heartbeat_s = heartbeat_s
        self._deflate = zlib.compressobj() if compress else None
        self._ws = web.WebSocketResponse(timeout=_CLOSE_S, max_msg_size=64 * 1024, compress=False)
        self._transport: asyncio.Transport | None = None
        self._sending = asyncio.Lock()
        self._said_goodbye = False
        self.session: Session | None = None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        await self._ws.prepare(request)
        self._transport = request.transport
        writer: asyncio.Task[None] | None = None
        try:
            await self._send({"op": HELLO, "d": {"heartbeat_interval": int(self._heartbeat_s * 1000)}})
            while (frame := await self._receive()) is not None:
                session, seq = self.session, await self._handle(frame)
                if session is None and self.session is not None:
                    writer = asyncio.create_task(self._write(self.session, seq))
        except ConnectionError:
            pass
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)
            self._end_session()
        return self._ws

    async def close(self, code: int) -> None:
        await self._ws.close(code=code)

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def ask_to_reconnect(self) -> None:
        await self._send({"op": RECONNECT, "d": None})

    async def _receive(self) -> _Frame | None:
        """The next frame; None once the websocket is closed. A client that is silent for two intervals is dropped."""
        try:
            message = await self._ws.receive(timeout=2 * self._heartbeat_s)
        except TimeoutError:
            await self.close(SESSION_TIMED_OUT)
            return None
        if message.type is WSMsgType.CLOSE:
            self._said_goodbye = message.data in (1000, 1001)
        if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
            return None
        try:
            return _Frame.model_validate(orjson.loads(message.data))
        except ValueError:
            await self.close(DECODE_ERROR)
            return None

    async def _handle(self, frame: _Frame) -> int:
        """Do what the client asks; returns the sequence after which a session that this began goes on."""
        try:
            match frame.op:
                case op if op == HEARTBEAT:
                    await self._send({"op": ACK, "d": None})
                case op if op in (IDENTIFY, RESUME) and self.session is not None:
                    await self.close(ALREADY_AUTHENTICATED)
                case op if op == IDENTIFY:
                    await self._identify(_Identify.model_validate(frame.d))
                case op if op == RESUME:
                    return await self._resume(_Resume.model_validate(frame.d))
                case op if op in (PRESENCE, VOICE, MEMBERS) and self.session is None:
                    await self.close(NOT_AUTHENTICATED)
                case op if op in (PRESENCE, VOICE):
                    pass
                case op if op == MEMBERS and self.session is not None:
                    self._request_members(self.session, frame.d)
                case _:
                    await self.close(UNKNOWN_OPCODE)
        except ValidationError:
            await self.close(DECODE_ERROR)
        return 0

    async def _identify(self, wanted: _Identify) -> None:
        application = self._world.state.application
        shard, count = wanted.shard
        if wanted.token != application.token:
            await self.close(AUTHENTICATION_FAILED)
        elif count < 1 or not 0 <= shard < count:
            await self.close(INVALID_SHARD)
        elif wanted.intents & ~needs.KNOWN or wanted.intents < 0:
            await self.close(INVALID_INTENTS)
        elif wanted.intents & needs.PRIVILEGED & ~application.intents:
            await self.close(DISALLOWED_INTENTS)
        else:
            self._begin(self._sessions.start(shard, count, wanted.intents, self._resume_url), "session_start")

    async def _resume(self, wanted: _Resume) -> int:
        if wanted.token != self._world.state.application.token:
            await self.close(AUTHENTICATION_FAILED)
            return 0
        session = self._sessions.resumable(wanted.session_id, wanted.seq)
        if session is None:
            await self._send({"op": INVALID_SESSION, "d": False})
            return 0
        session.tell("RESUMED", {})
        self._begin(session, "session_resume")
        return wanted.seq

    def _begin(self, session: Session, kind: str) -> None:
        self.session = session
        # A session that is resumed elsewhere while its old connection lives on leaves that one.
        session.holder = self
        session.told.set()
        self._world.journal.add(kind, session_id=session.id, shard=session.shard)

    def _end_session(self) -> None:
        session = self.session
        if session is None or session.holder is not self:
            return
        session.holder = None
        # A client that says goodbye with 1000 or 1001 has ended its session: it cannot be resumed.
        if self._said_goodbye:
            self._sessions.forget(session)
        self._world.journal.add("session_end", session_id=session.id, shard=session.shard)

    def _request_members(self, session: Session, wanted: JsonValue) -> None:
        if isinstance(wanted, dict):
            guild = self._world.state.guilds.get(int(str(wanted.get("guild_id") or 0)))
            if guild is not None:
                self._sessions.tell_members(session, guild, wanted)

    async def _write(self, session: Session, seq: int) -> None:
        """Send the session's events after `seq`; a client that falls behind what is kept loses its session."""
        while not self._ws.closed:
            session.told.clear()
            if session.holder is not self:
                await self.close(UNKNOWN_ERROR)
                return
            if not session.keeps_after(seq):
                self._sessions.forget(session)
                await self.close(UNKNOWN_ERROR)
                return
            for number, event in session.after(seq):
                await self._send_bytes(event)
                seq = number
            if seq == session.seq:
                await session.told.wait()

    async def _send(self, payload: JsonObject) -> None:
        await self._send_bytes(orjson.dumps(payload))

    async def _send_bytes(self, payload: bytes) -> None:
        # Compressed bytes depend on all before them: they must leave in the order in which they were made.
        async with self._sending:
            if self._deflate is None:
                await self._ws.send_str(payload.decode())
            else:
                await self._ws.send_bytes(self._deflate.compress(payload) + self._deflate.flush(zlib.Z_SYNC_FLUSH))
