"""Whether a broker serves: it accepts a connection and its metadata names a broker."""

import asyncio
import contextlib
import struct

_ANSWER_S = 2.0

# Metadata v4 (https://kafka.apache.org/protocol#The_Messages_Metadata) for no topics, correlation id 1, no client id.
_METADATA_REQUEST = struct.pack(">hhihi?", 3, 4, 1, -1, 0, False)


async def serves(host: str, port: int) -> bool:
    """One attempt, which takes 2 s at most where something accepts and stays silent."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    try:
        writer.write(struct.pack(">i", len(_METADATA_REQUEST)) + _METADATA_REQUEST)
        async with asyncio.timeout(_ANSWER_S):
            # size, correlation id, throttle time, number of brokers
            *_, brokers = struct.unpack(">iiii", await reader.readexactly(16))
    except (OSError, EOFError, TimeoutError):
        return False
    else:
        return brokers > 0
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
