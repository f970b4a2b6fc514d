"""Plays writes and waits onto a live HTTP response, and does to the connection what the ending says."""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterator
from typing import assert_never

from aiohttp import web

from services.sandbox.provider.performance import Wait, Write
from services.sandbox.provider.script import Eof, Finish, Hang, Reset, StreamEnding, StreamError

_LINGER_NONE = struct.pack("ii", 1, 0)  # SO_LINGER on with 0 s: closing sends RST instead of FIN


async def play(response: web.StreamResponse, acts: Iterator[Write | Wait], sent: Callable[[bytes], None]) -> None:
    """Write and wait in order; each `Write` is one HTTP chunk and, with TCP_NODELAY, one segment if it fits.

    `sent` is told of each write. Raises `ConnectionError` if the caller is gone.
    """
    for act in acts:
        match act:
            case Write():
                await response.write(act.data)
                sent(act.data)
            case Wait():
                await asyncio.sleep(act.ms / 1000)
            case _:
                assert_never(act)


async def end(
    request: web.Request, response: web.StreamResponse, ending: StreamEnding, before_reset: Callable[[], None]
) -> None:
    """End the response; a hang returns only by cancellation. `before_reset` runs just before the connection is cut."""
    match ending:
        case Finish() | StreamError() | Eof():
            await response.write_eof()
        case Hang():
            await asyncio.get_running_loop().create_future()
        case Reset():
            await _reset(request, before_reset)
        case _:
            assert_never(ending)


async def _reset(request: web.Request, before_reset: Callable[[], None]) -> None:
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("the caller has closed the connection")
    # A reset throws away what still waits in the process, and the script promised those bytes.
    # The transport has no public event for an empty buffer.
    while transport.get_write_buffer_size():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    before_reset()
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
    transport.abort()
