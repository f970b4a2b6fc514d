"""Where the bot was addressed lately, as the inbox tells it, so that a restart knows which channels to read again."""

import asyncio

from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from schemas.inbox import MessageReceived
from schemas.registry import decode
from services.gateway.watermarks import Watermarks, shard_of
from services.runtime.log import Log, LogRecord

RECENT_MS = 15 * 60_000
_WITHIN_S = 60.0


async def read_recent(log: Log, watermarks: Watermarks, *, now_ms: int, shard_id: int, shard_count: int) -> None:
    """Set the watermarks of the shard's channels from the last 15 minutes of the inbox; raises TimeoutError."""

    def note(record: LogRecord) -> None:
        try:
            if HeaderReader(record.headers).text("type") != MessageReceived.__name__:
                return
            _, received = decode(record.headers, record.value)
        except BadRecord:
            return  # the inbox's reader sees to it that it is told of
        if not isinstance(received, MessageReceived):
            return
        guild_id = None if received.guild_id is None else int(received.guild_id)
        if shard_of(guild_id, shard_count) == shard_id:
            watermarks.saw(int(received.channel_id), guild_id, int(received.message_id), addressed=True)

    tail = log.tail("inbox", since_ms=now_ms - RECENT_MS, on_record=note)
    await tail.start()
    try:
        async with asyncio.timeout(_WITHIN_S):
            await tail.caught_up()
    finally:
        await tail.stop()
