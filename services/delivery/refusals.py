"""What an error of discord.py means for an output: refused for good, or to be tried again."""

import contextlib
from collections.abc import AsyncGenerator

import discord

from schemas.inbox import Failed
from services.runtime.discord import UNREACHABLE, bounded
from services.runtime.errors import Unavailable

CALL_S = 30.0
"""What a call may take, with discord.py's own retries and its waits for a channel's rate limit.

A message that was sent all the same is recognised by its nonce, or found by the look into the channel.
"""

_REASON_LIMIT = 300
_UNAUTHORIZED = 401
_REQUEST_TIMEOUT = 408
_RATE_LIMITED = 429


def refusal(error: discord.HTTPException) -> Failed:
    """Why Discord refuses the output for good; raises Unavailable where the same call may succeed later.

    https://discord.com/developers/docs/topics/opcodes-and-status-codes
    """
    if error.status == _UNAUTHORIZED:
        raise Unavailable("discord", "the bot's token is refused; check ODRADEK_DISCORD_TOKEN") from error
    if error.status == _RATE_LIMITED:
        raise Unavailable("discord", "rate limited", retry_after_s=_retry_after(error)) from error
    if error.status >= 500 or error.status == _REQUEST_TIMEOUT:
        raise Unavailable("discord", f"status {error.status}") from error
    return Failed(code=str(error.code or error.status), reason=(error.text or type(error).__name__)[:_REASON_LIMIT])


@contextlib.asynccontextmanager
async def reaching_discord(client: discord.Client) -> AsyncGenerator[None]:
    """Turns what comes of a Discord that cannot be reached, or takes over CALL_S, into Unavailable."""
    try:
        async with bounded(client, CALL_S):
            yield
    except UNREACHABLE as error:
        raise Unavailable("discord", f"no answer ({type(error).__name__})") from error
    except RuntimeError as error:
        # aiohttp's word for a session that was closed under the call.
        if not client.is_closed():
            raise
        raise Unavailable("discord", "the client is closed") from error


def _retry_after(error: discord.HTTPException) -> float | None:
    text = error.response.headers.get("Retry-After", "")
    try:
        return float(text)
    except ValueError:
        return None
