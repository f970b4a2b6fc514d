"""A provider that weighs little and notes when it wrote what: one asyncio protocol, no framework, one timer a stream.

The sandbox's provider checks requests and plays scripts, which costs more than what is to be measured; this one answers
whoever asks with the plan of the turn that the header `x-odradek-turn` names, in the sandbox's own wire encoding.
"""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, cast

from services.sandbox.benchmark.replies import Reply
from services.sandbox.provider.dialects.base import Encoder, Head
from services.sandbox.provider.dialects.table import DIALECTS
from services.sandbox.provider.neutral import DialectName, Usage

MODEL = "sandbox-bench"
_TURN = re.compile(rb"\r\nx-odradek-turn: *([^\r\n]+)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_UNKNOWN = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
_MOST_REQUEST_BYTES = 32 * 1024 * 1024
_BLOCK_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """What one turn is answered with. `interval_s`: from delta to delta. `silent`: not a byte comes.

    `first_byte_s`: from the call to the answer. `endless`: the reply is written over and over, as fast as it is read.
    """

    reply: Reply
    interval_s: float
    silent: bool = False
    first_byte_s: float = 0.0
    endless: bool = False


@dataclass(slots=True)
class Call:
    """One call; times are seconds of the monotonic clock. `wrote` has the times of the bytes that complete a paragraph.

    `latest_s`: the longest that a delta came behind its time, which says whether this provider kept its pace.
    """

    turn: str
    plan: Plan
    arrived_s: float
    wrote: dict[int, float] = field(default_factory=dict[int, float])
    deltas: int = 0
    latest_s: float = 0.0
    ended_s: float | None = None
    how: Literal["finished", "closed"] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self, how: Literal["finished", "closed"]) -> None:
        """Note the end, once."""
        if self.how is None:
            self.how, self.ended_s = how, time.monotonic()
            self.ended.set()


class BenchProvider:
    """Answers with plans. `on_call` is told of each call as it arrives."""

    def __init__(self, dialect: DialectName, on_call: Callable[[Call], None]) -> None:
        self.dialect = DIALECTS[dialect]
        self.plans: dict[str, Plan] = {}
        self.on_call = on_call
        self.deltas = 0
        self.latest_s = 0.0
        self.connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None
        self._calls = 0

    async def start(self) -> str:
        """Listen on a free port; returns the base URL."""
        self._server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.close()
            for connection in tuple(self.connections):
                connection.abort()
            await self._server.wait_closed()

    def encoder(self) -> Encoder:
        """The encoder of one more call."""
        self._calls += 1
        return self.dialect.encoder(Head(self._calls, MODEL, int(time.time()), input_tokens=100, wants_usage=True))


class _Connection(asyncio.Protocol):
    """One keep-alive connection: a request, its stream, the next request."""

    def __init__(self, provider: BenchProvider) -> None:
        self._provider = provider
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._call: Call | None = None
        self._encoder: Encoder | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next_s = 0.0
        self._block = b""
        self._full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._provider.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._provider.connections.discard(self)
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._call is not None:
            self._call.end("closed")

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0 or self._transport is None:
            return
        head = bytes(self._buffer[:head_end])
        length = _LENGTH.search(head)
        wanted = head_end + 4 + (0 if length is None else int(length[1]))
        if wanted > _MOST_REQUEST_BYTES:
            self._transport.abort()
        if len(self._buffer) < wanted:
            return
        del self._buffer[:wanted]
        turn = _TURN.search(head)
        plan = None if turn is None else self._provider.plans.get(turn[1].decode())
        if turn is None or plan is None:
            self._transport.write(_UNKNOWN)
            return
        self._call = Call(turn[1].decode(), plan, time.monotonic())
        self._provider.on_call(self._call)
        if plan.silent:
            return
        if plan.first_byte_s > 0:
            self._timer = asyncio.get_running_loop().call_later(plan.first_byte_s, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        call, transport = self._call, self._transport
        if call is None or transport is None:
            return
        self._encoder = self._provider.encoder()
        transport.write(_HEAD)
        if call.plan.endless:
            reply = b"".join(part for delta in call.plan.reply.deltas for part in self._encoder.text(delta))
            self._block = _chunk(reply * (_BLOCK_BYTES // len(reply) + 1))
            self._write_block()
        else:
            self._next_s = time.monotonic()
            self._write_next()

    def _write_block(self) -> None:
        if self._transport is not None and not self._full:
            self._transport.write(self._block)
            self._timer = asyncio.get_running_loop().call_later(0, self._write_block)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._block:
            self._write_block()

    def _write_next(self) -> None:
        call, transport, encoder = self._call, self._transport, self._encoder
        if call is None or transport is None or encoder is None:
            return
        now = time.monotonic()
        late_s = now - self._next_s
        if late_s > call.latest_s:
            call.latest_s = late_s
            self._provider.latest_s = max(self._provider.latest_s, late_s)
        reply = call.plan.reply
        index = call.deltas
        if index == len(reply.deltas):
            transport.write(_chunk(b"".join(encoder.finish("stop", Usage(100, index)))) + b"0\r\n\r\n")
            self._call = None
            call.end("finished")
            return
        done = len(call.wrote)
        if reply.completes[done : done + 1] == (index,):
            call.wrote[done] = now
        transport.write(_chunk(b"".join(encoder.text(reply.deltas[index]))))
        call.deltas += 1
        self._provider.deltas += 1
        self._next_s += call.plan.interval_s
        wait_s = max(0.0, self._next_s - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._write_next)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
