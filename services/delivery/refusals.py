"""What an error of discord.py means for an output: refused for good, or to be tried again."""

import contextlib
from collections.abc import Generator

import discord

from schemas.inbox import Failed
from services.runtime.discord import UNREACHABLE
from services.runtime.errors import Unavailable

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


@contextlib.contextmanager
def reaching_discord(client: discord.Client) -> Generator[None]:
    """Turns what comes of a Discord that cannot be reached into Unavailable."""
    try:
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
