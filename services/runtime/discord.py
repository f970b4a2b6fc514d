"""Discord over REST: where it is, with which token, and a client that never opens a websocket.

discord.py keeps its addresses in class attributes, so one process talks to one Discord.
"""

import asyncio
import contextlib
import types
from collections.abc import AsyncGenerator

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from services.runtime.answering import Answering
from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.settings import Settings

_PUBLIC_GATEWAY = "wss://gateway.discord.gg/"
HOW_TO_SET_IT = (
    "Set ODRADEK_DISCORD_TOKEN to the bot's token; https://discord.com/developers/applications shows it "
    "under Bot, Reset Token."
)
"""The remedy for a missing or refused token."""
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 10.0
_AWAY_RETRY_S = 2.0
_GLOBAL_LIMIT_S = 30.0
"""Longer than Discord's global rate limits last, https://docs.discord.com/developers/topics/rate-limits"""
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500

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
    settings: Settings, *, http_trace: aiohttp.TraceConfig | None = None, longest_wait_s: float | None = None
) -> AsyncGenerator[discord.Client]:
    """A client that is logged in for REST calls and closed at the end; raises what `log_in` raises.

    A call that a rate limit holds up for longer than `longest_wait_s` (30 s at least) raises discord.RateLimited.
    """
    client = discord.Client(
        intents=discord.Intents(guilds=True),  # for no websocket; discord.py warns of a client without it
        max_messages=None,
        allowed_mentions=discord.AllowedMentions.none(),
        http_trace=http_trace or aiohttp.TraceConfig(),
        max_ratelimit_timeout=longest_wait_s,
    )
    try:
        await log_in(client, settings)
        yield client
    finally:
        await client.close()


@contextlib.asynccontextmanager
async def bounded(client: discord.Client, within_s: float) -> AsyncGenerator[None]:
    """End a call of discord.py after so many seconds with TimeoutError; aiohttp would give each of its tries 5 minutes.

    The call that meets a global rate limit sleeps it out and then lets all others go on. Where it is ended in that sleep,
    discord.py lets nobody go on for ever, so this does it when the limit is over.
    """
    try:
        async with asyncio.timeout(within_s):
            yield
    except (TimeoutError, asyncio.CancelledError):
        asyncio.get_running_loop().call_later(_GLOBAL_LIMIT_S, client.http._global_over.set)  # pyright: ignore[reportPrivateUsage]
        raise


class RestSession:
    """A REST client for a process's life, which starts without Discord and logs in as soon as it answers.

    Of a Discord that has stopped answering it asks one small question every few seconds, and gives nobody the client until
    that is answered: so many channels that wait neither storm it nor wait longer than that once it is back.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        http_trace: aiohttp.TraceConfig | None = None,
        longest_wait_s: float | None = None,
    ) -> None:
        self._settings = settings
        self._http_trace = http_trace or aiohttp.TraceConfig()
        self._http_trace.on_request_end.append(self._note_answer)
        self._http_trace.on_request_exception.append(self._note_failure)
        self._longest_wait_s = longest_wait_s
        self._client: discord.Client | None = None
        self._missing = "not logged in yet"
        self._failed = False
        self._limits_all = False
        self._answering = Answering("Discord", settings.discord_api, self._ask)

    async def run(self) -> None:
        """Log in, then keep the client open until cancelled; raises ConfigurationError for a bad token."""
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                async with rest_client(
                    self._settings, http_trace=self._http_trace, longest_wait_s=self._longest_wait_s
                ) as client:
                    self._client = client
                    self._answering.start()
                    try:
                        await asyncio.get_running_loop().create_future()
                    finally:
                        self._client = None
                        await self._answering.stop()
            except Unavailable as error:
                self._missing = str(error)
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def client(self) -> discord.Client:
        """The logged-in client; raises Unavailable while there is none, or while Discord does not answer."""
        if self._client is None:
            raise Unavailable("discord", self._missing)
        silent = self._answering.missing()
        if silent is not None:
            raise Unavailable("discord", silent, retry_after_s=_AWAY_RETRY_S)
        return self._client

    def missing(self) -> str | None:
        """What a ready check says: None while logged in to a Discord that answers."""
        return self._missing if self._client is None else self._answering.missing()

    def limits_all(self) -> bool:
        """Whether Discord's last word was that it takes nothing from the whole bot for a while."""
        return self._limits_all

    async def _ask(self) -> bool:
        """True where no request has failed since the last answer; else an answer to a request that needs no rights."""
        if self._failed and self._client is not None:
            await self._client.http.request(Route("GET", "/gateway"))
        return not self._failed

    async def _note_answer(
        self, _: aiohttp.ClientSession, __: types.SimpleNamespace, answer: aiohttp.TraceRequestEndParams
    ) -> None:
        response = answer.response
        self._failed = response.status >= _SERVER_ERROR
        if response.status != _TOO_MANY_REQUESTS:
            self._limits_all = False
        elif "X-RateLimit-Global" in response.headers:
            self._limits_all = True

    async def _note_failure(self, *_: object) -> None:
        self._failed = True
