"""Keeping a client connected: whatever ends one is answered with a new one, except for what only people can mend."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import discord

from services.gateway.client import GatewayClient
from services.gateway.metrics import CONNECTED
from services.runtime.discord import HOW_TO_SET_IT, log_in
from services.runtime.errors import ConfigurationError, OdradekError, Unavailable
from services.runtime.logs import get_logger
from services.runtime.settings import Settings

logger = get_logger("gateway.connection")

_BAD_TOKEN = 4004
_BAD_SHARD = (4010, 4011)


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. Waits between clients double from `first_wait_s` to `longest_wait_s` and start anew once a client was
    connected for `steady_s`; Discord allows 1,000 sessions a day, which the longest wait stays below. One that could not
    even log in has begun no session, so the next comes after `away_wait_s` at most. A client that has no websocket for
    `silent_s` is given up, since discord.py's own waits grow up to 17 minutes.
    """

    first_wait_s: float = 1.0
    longest_wait_s: float = 120.0
    away_wait_s: float = 5.0
    steady_s: float = 300.0
    silent_s: float = 60.0


class Connection:
    """The gateway's websocket for a process's life."""

    def __init__(
        self, settings: Settings, new_client: Callable[[], GatewayClient], patience: Patience | None = None
    ) -> None:
        self._settings = settings
        self._new_client = new_client
        self._patience = patience or Patience()
        self._client: GatewayClient | None = None
        self._missing = "not connected yet"

    def missing(self) -> str | None:
        """What a ready check says: None while the websocket is up."""
        if self._client is not None and self._client.up.is_set():
            return None
        return self._missing

    async def run(self) -> None:
        """Stay connected until cancelled; raises ConfigurationError for what no retry can mend."""
        patience = self._patience
        wait_s = patience.first_wait_s
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            client = self._client = self._new_client()
            longest_s = patience.away_wait_s
            try:
                await log_in(client, self._settings)
                longest_s = patience.longest_wait_s
                await self._live(client)
            except ConfigurationError:
                raise
            except Exception as error:
                # discord.py lets through whatever an event it cannot parse raises, so anything may come here.
                self._missing = f"not connected: {_reason(error)}"
                logger.warning("discord gateway lost", reason=_reason(error), wait_s=min(wait_s, longest_s), often=True)
            finally:
                self._client = None
                CONNECTED.set(0)
                with contextlib.suppress(Exception):
                    await client.close()
            if loop.time() - began > patience.steady_s:
                wait_s = patience.first_wait_s
            await asyncio.sleep(min(wait_s, longest_s))
            wait_s = min(wait_s * 2, patience.longest_wait_s)

    async def _live(self, client: GatewayClient) -> None:
        connecting = asyncio.create_task(client.connect(), name="discord gateway")
        watching = asyncio.create_task(self._until_silent(client), name="discord gateway watch")
        try:
            await asyncio.wait((connecting, watching), return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise Unavailable("discord", f"no websocket for {self._patience.silent_s:.0f} s")
            connecting.result()
            raise Unavailable("discord", "the websocket was closed")
        except discord.PrivilegedIntentsRequired as error:
            raise ConfigurationError(
                "Discord does not let the bot read message content",
                remedy="Switch on MESSAGE CONTENT INTENT at https://discord.com/developers/applications under Bot.",
            ) from error
        except discord.ConnectionClosed as error:
            if error.code == _BAD_TOKEN:
                raise ConfigurationError("Discord refuses the bot's token", remedy=HOW_TO_SET_IT) from error
            if error.code in _BAD_SHARD:
                raise ConfigurationError(
                    f"Discord does not accept shard {self._settings.discord_shards}",
                    remedy="Set ODRADEK_DISCORD_SHARDS to the shard's number and the number of shards, such as 0/2.",
                ) from error
            raise
        finally:
            connecting.cancel()
            watching.cancel()
            await asyncio.gather(connecting, watching, return_exceptions=True)

    async def _until_silent(self, client: GatewayClient) -> None:
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout(self._patience.silent_s):
                    await client.up.wait()
                await client.down.wait()


def _reason(error: Exception) -> str:
    """A reason without anything that a server wrote."""
    if isinstance(error, OdradekError):
        return str(error)
    if isinstance(error, discord.ConnectionClosed):
        return f"closed with code {error.code}"
    return type(error).__name__
