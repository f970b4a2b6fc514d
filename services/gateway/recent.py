"""Where the bot was addressed lately, as the log tells it, so that a restart knows which channels to read again.

Every answered message has a record in `generations`, which has one record a provider call where `inbox` has one a slice
of every reply: a busy system's inbox of 15 minutes takes longer to read than a gateway may be away. What has no
generation yet is young, and is found at the end of `inbox`.
"""

import asyncio

from schemas.generations import GenerationRequested
from schemas.inbox import MessageReceived
from schemas.registry import decode_any
from services.gateway.watermarks import Watermarks, shard_of
from services.runtime.log import Log, LogRecord

GENERATIONS_MS = 15 * 60_000
INBOX_MS = 60_000
_WITHIN_S = 60.0


async def read_recent(log: Log, watermarks: Watermarks, *, now_ms: int, shard_id: int, shard_count: int) -> None:
    """Set the watermarks of the shard's channels from the last minutes of the log; raises TimeoutError."""

    def note(record: LogRecord) -> None:
        told = decode_any(record.headers, record.value, MessageReceived, GenerationRequested)
        if told is None:
            return
        guild_id = None if told.guild_id is None else int(told.guild_id)
        if shard_of(guild_id, shard_count) == shard_id:
            watermarks.saw(int(told.channel_id), guild_id, int(told.message_id), addressed=True)

    tails = (
        log.tail("generations", since_ms=now_ms - GENERATIONS_MS, on_record=note),
        log.tail("inbox", since_ms=now_ms - INBOX_MS, on_record=note),
    )
    async with asyncio.timeout(_WITHIN_S):
        for tail in tails:
            await tail.start()
            try:
                await tail.caught_up()
            finally:
                await tail.stop()
