"""Bodies in a content coding that nobody asked for, over a real socket."""

import asyncio
import gzip
import zlib
from collections.abc import Callable

import pytest

from services.provider.httpx_transport import HttpxTransport
from services.provider.transport import Call, ConnectionBroken


async def answered(coding: str, body: bytes, most: int = 1 << 30) -> list[bytes]:
    """What the transport makes of a response; it is read until there are more than `most` bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    transport = HttpxTransport()
    pieces: list[bytes] = []
    try:
        port = server.sockets[0].getsockname()[1]
        response = await transport.open(Call(f"http://127.0.0.1:{port}/", {}, b"", 5.0))
        async for piece in response.chunks():
            pieces.append(piece)
            if sum(map(len, pieces)) > most:
                break
        await response.aclose()
    finally:
        await transport.aclose()
        server.close()
    return pieces


@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_compressed_body_is_decoded_a_piece_at_a_time(coding: str, compress: Callable[[bytes], bytes]) -> None:
    text = b"data: {}\n\n" * 500_000
    pieces = await answered(coding, compress(text))
    assert b"".join(pieces) == text
    assert max(map(len, pieces)) <= 64 * 1024


async def test_coding_within_coding_is_left_as_it_is() -> None:
    bomb = gzip.compress(gzip.compress(bytes(1_000_000)))
    assert b"".join(await answered("gzip, gzip", bomb)) == bomb
    assert b"".join(await answered("br", b"\x00\x01")) == b"\x00\x01"


async def test_a_body_that_is_not_in_its_coding_breaks_the_connection() -> None:
    with pytest.raises(ConnectionBroken, match="not in its content coding"):
        await answered("gzip", b"data: plain\n\n")
