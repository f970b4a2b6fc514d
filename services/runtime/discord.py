"""Discord over REST: where it is, with which token, and a client that never opens a websocket.

discord.py keeps its addresses in class attributes, so one process talks to one Discord.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.settings import Settings

_PUBLIC_GATEWAY = "wss://gateway.discord.gg/"
HOW_TO_SET_IT = (
    "Set ODRADEK_DISCORD_TOKEN to the bot's token; https://discord.com/developers/applications shows it "
    "under Bot, Reset Token."
)
"""The remedy for a missing or refused token."""
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0

discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nothing here speaks

UNREACHABLE: tuple[type[Exception], ...] = (aiohttp.ClientError, asyncio.TimeoutError, OSError)
"""What discord.py lets through when Discord cannot be reached at all."""


def point_discord_at(settings: Settings) -> None:
    """Make discord.py of this whole process use the settings' REST base and gateway."""
    Route.BASE = settings.discord_api.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.discord_gateway or _PUBLIC_GATEWAY)


def token(settings: Settings) -> str:
    """The bot's token; raises ConfigurationError where there is none."""
    if settings.discord_token is None or not settings.discord_token.get_secret_value().strip():
        raise ConfigurationError("there is no Discord token", remedy=HOW_TO_SET_IT)
    return settings.discord_token.get_secret_value().strip()


async def log_in(client: discord.Client, settings: Settings) -> None:
    """Log the client in over REST.

    Raises ConfigurationError for a missing or refused token, Unavailable while Discord cannot be reached or fails.
    """
    point_discord_at(settings)
    try:
        await client.login(token(settings))
    except discord.LoginFailure as error:
        raise ConfigurationError("Discord refuses the bot's token", remedy=HOW_TO_SET_IT) from error
    except discord.HTTPException as error:
        raise Unavailable("discord", f"logging in failed with status {error.status}") from error
    except UNREACHABLE as error:
        raise Unavailable("discord", f"{settings.discord_api} does not answer ({type(error).__name__})") from error


@contextlib.asynccontextmanager
async def rest_client(
    settings: Settings, *, http_trace: aiohttp.TraceConfig | None = None
) -> AsyncGenerator[discord.Client]:
    """A client that is logged in for REST calls and closed at the end; raises what `log_in` raises."""
    client = discord.Client(
        intents=discord.Intents(guilds=True),  # for no websocket; discord.py warns of a client without it
        max_messages=None,
        allowed_mentions=discord.AllowedMentions.none(),
        http_trace=http_trace or aiohttp.TraceConfig(),
    )
    try:
        await log_in(client, settings)
        yield client
    finally:
        await client.close()


class RestSession:
    """A REST client for a process's life, which starts without Discord and logs in as soon as it answers."""

    def __init__(self, settings: Settings, *, http_trace: aiohttp.TraceConfig | None = None) -> None:
        self._settings = settings
        self._http_trace = http_trace
        self._client: discord.Client | None = None
        self._missing = "not logged in yet"

    async def run(self) -> None:
        """Log in, then keep the client open until cancelled; raises ConfigurationError for a bad token."""
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                async with rest_client(self._settings, http_trace=self._http_trace) as client:
                    self._client = client
                    try:
                        await asyncio.get_running_loop().create_future()
                    finally:
                        self._client = None
            except Unavailable as error:
                self._missing = str(error)
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def client(self) -> discord.Client:
        """The logged-in client; raises Unavailable while there is none."""
        if self._client is None:
            raise Unavailable("discord", self._missing)
        return self._client

    def missing(self) -> str | None:
        """What a ready check says: None once logged in."""
        return None if self._client is not None else f"discord: {self._missing}"
