"""The page's side of the local Discord: the channel as it changes, and what the people in it do.

It outlives the local Discord: while that is away the page says so, and the channel is read anew when it is back.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping

import aiohttp
from pydantic import ValidationError

from services.runtime.errors import Unavailable
from services.runtime.logs import get_logger
from services.sandbox.page.channel import ShownChannel, person_view
from services.sandbox.page.discord_api import MessageEntry, Messages, Refusal, State, TypingEntry
from services.sandbox.page.hub import Hub
from services.sandbox.page.jsontypes import ChannelView, Status

log = get_logger("page.chat")

_AGAIN_S = 1.0
_ANSWER_S = 10.0
# The local Discord says at least every 15 s that it is alive.
_SILENCE_S = 40.0
_LINE_BYTES = 1024 * 1024


class Refused(Exception):
    """The local Discord did not do what was asked; the message says why."""


class Chat:
    """The channel, told to the hub as `channel`, `message`, `message-gone` and `typing`, with `chat-status`."""

    def __init__(self, url: str, hub: Hub) -> None:
        self._url = url.rstrip("/")
        self._hub = hub
        self._session: aiohttp.ClientSession | None = None
        self._shown: ShownChannel | None = None
        self.status: Status = "connecting"

    async def run(self) -> None:
        """Follow the channel for ever."""
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_ANSWER_S), read_bufsize=_LINE_BYTES
        ) as session:
            self._session = session
            while True:
                try:
                    await self._follow(session)
                except (aiohttp.ClientError, TimeoutError, ValidationError, ValueError) as error:
                    if self.status != "reconnecting":
                        log.warning("the local Discord cannot be followed", error=type(error).__name__)
                self._tell_status("reconnecting")
                await asyncio.sleep(_AGAIN_S)

    def view(self) -> ChannelView:
        """The channel as it is, an empty one before the local Discord has answered."""
        if self._shown is None:
            return ChannelView(name="", bot=None, people=[], messages=[])
        return self._shown.view()

    async def write(self, user: str, content: str, reply_to: str | None) -> None:
        """Write a message as a person; the bot's mention is put before it if it lacks. Raises Refused, Unavailable."""
        shown = self._need()
        mention = f"<@{shown.bot.id}>"
        text = content if mention in content else f"{mention} {content}"
        body: dict[str, object] = {"user": user, "channel": shown.channel.id, "content": text}
        if reply_to is not None:
            body["reply_to"] = reply_to
        await self._do("messages", body)

    async def press(self, user: str, message: str, custom_id: str) -> None:
        """Press a message's button. Raises Refused, Unavailable."""
        await self._do("buttons", {"user": user, "message": message, "custom_id": custom_id})

    async def command(self, user: str, name: str) -> None:
        """Use a slash command without options. Raises Refused, Unavailable."""
        await self._do("commands", {"user": user, "channel": self._need().channel.id, "name": name})

    def _need(self) -> ShownChannel:
        if self._shown is None:
            raise Unavailable("the local Discord", "it has not answered yet")
        return self._shown

    async def _do(self, what: str, body: Mapping[str, object]) -> None:
        if self._session is None:
            raise Unavailable("the local Discord", "it has not answered yet")
        try:
            async with self._session.post(f"{self._url}/_sandbox/{what}", json=body) as response:
                if response.status >= 400:
                    raise Refused(Refusal.model_validate_json(await response.read()).error)
        except (aiohttp.ClientError, TimeoutError, ValidationError) as error:
            raise Unavailable("the local Discord", type(error).__name__) from error

    async def _follow(self, session: aiohttp.ClientSession) -> None:
        state = State.model_validate_json(await self._get(session, "/state"))
        if not state.guilds or not state.guilds[0].channels:
            raise ValueError("the local Discord has no channel")
        channel = state.guilds[0].channels[0]
        messages = Messages.model_validate_json(await self._get(session, f"/channels/{channel.id}/messages"))
        self._shown = ShownChannel(state, messages.messages)
        self._hub.tell("channel", self._shown.view())
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_ANSWER_S, sock_read=_SILENCE_S)
        async with session.get(f"{self._url}/_sandbox/events?after={state.seq}", timeout=timeout) as response:
            response.raise_for_status()
            self._tell_status("connected")
            async for kind, data in _events(response.content):
                self._apply(self._shown, kind, data)

    async def _get(self, session: aiohttp.ClientSession, path: str) -> bytes:
        async with session.get(f"{self._url}/_sandbox{path}") as response:
            response.raise_for_status()
            return await response.read()

    def _apply(self, shown: ShownChannel, kind: str, data: bytes) -> None:
        match kind:
            case "message_create" | "message_update":
                message = MessageEntry.model_validate_json(data).message
                if message.channel_id == shown.channel.id:
                    self._hub.tell("message", shown.put(message))
            case "message_delete":
                message = MessageEntry.model_validate_json(data).message
                shown.remove(message.id)
                self._hub.tell("message-gone", {"id": message.id})
            case "typing":
                typing = TypingEntry.model_validate_json(data)
                if typing.channel_id == shown.channel.id:
                    self._hub.tell("typing", person_view(typing.author))
            case _:
                pass

    def _tell_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._hub.tell("status", {"chat": status})


async def _events(content: aiohttp.StreamReader) -> AsyncIterator[tuple[str, bytes]]:
    """The (event, data) of each server-sent event; the local Discord writes each datum in one line."""
    kind, data = "", b""
    async for line in content:
        if line.startswith(b"event: "):
            kind = line[7:].strip().decode("utf-8", "replace")
        elif line.startswith(b"data: "):
            data = line[6:]
        elif line == b"\n" and data:
            yield kind, data
            kind, data = "", b""
