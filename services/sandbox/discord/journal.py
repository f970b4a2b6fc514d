"""What happened, in order: the newest entries, to read, to follow and to wait for."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from services.sandbox.discord.entities import Channel, Message, User
from services.sandbox.discord.events import (
    ChannelCreated,
    ChannelDeleted,
    GuildCreated,
    InteractionAnswered,
    InteractionCreated,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    TypingStarted,
    WorldEvent,
)
from services.sandbox.discord.jsontypes import JsonObject
from services.sandbox.discord.render import Render
from services.sandbox.discord.state import State


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. `seq` counts from 1; `monotonic_ns` is this process's clock, `wall_ms` Unix time in milliseconds."""

    seq: int
    kind: str
    monotonic_ns: int
    wall_ms: int
    channel_id: int | None
    author: User | None
    data: JsonObject

    def payload(self) -> JsonObject:
        author = self.author
        return {
            "seq": self.seq,
            "kind": self.kind,
            "monotonic_ns": self.monotonic_ns,
            "wall_ms": self.wall_ms,
            "channel_id": None if self.channel_id is None else str(self.channel_id),
            "author": author and {"id": str(author.id), "username": author.username, "bot": author.bot},
            **self.data,
        }


class Journal:
    """Keeps the newest `kept` entries."""

    def __init__(self, state: State, render: Render, kept: int) -> None:
        self._state = state
        self._render = render
        self._kept = kept
        self._entries = dict[int, Entry]()
        self._last = 0
        self._grown = asyncio.Event()
        state.listen(self._on_event)

    @property
    def last_seq(self) -> int:
        return self._last

    def add(
        self, kind: str, channel: Channel | None = None, author: User | None = None, /, **data: "JsonObject | str | int"
    ) -> None:
        self._last += 1
        channel_id = None if channel is None else channel.id
        self._entries[self._last] = Entry(
            self._last, kind, time.monotonic_ns(), self._state.now_ms(), channel_id, author, {**data}
        )
        self._entries.pop(self._last - self._kept, None)
        self._grown.set()
        self._grown = asyncio.Event()

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Those kept with a higher `seq` than `after`, the oldest first."""
        seq = after
        while seq < self._last:
            seq = max(seq, self._last - self._kept) + 1
            yield self._entries[seq]

    async def follow(self, after: int = 0) -> AsyncIterator[Entry]:
        """Entries after `after`, then each new one as it comes. A reader that is too slow misses what was dropped."""
        while True:
            for entry in self.entries(after):
                after = entry.seq
                yield entry
            if after >= self._last:
                await self._grown.wait()

    async def wait_for(self, predicate: Callable[[Entry], bool], seconds: float, after: int = 0) -> Entry:
        """The first entry after `after` that fits, past or to come; raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            async for entry in self.follow(after):
                if predicate(entry):
                    return entry
        raise AssertionError("a journal does not end")

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Return once `condition` holds, looked at after each event; raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            while not condition():
                await self._grown.wait()

    def _on_event(self, event: WorldEvent) -> None:
        match event:
            case MessageCreated(message):
                self._add_message("message_create", message)
            case MessageEdited(message):
                self._add_message("message_update", message)
            case MessageDeleted(message):
                self._add_message("message_delete", message)
            case TypingStarted(channel, user, _):
                self.add("typing", channel, user)
            case InteractionCreated(interaction):
                data = {"id": str(interaction.id), "type": int(interaction.kind), "data": interaction.data}
                self.add("interaction", interaction.channel, interaction.user, interaction=data)
            case InteractionAnswered(interaction, answer, message):
                data: JsonObject = {"id": str(interaction.id), "type": int(interaction.kind), "answer": int(answer)}
                data["message_id"] = None if message is None else str(message.id)
                data["modal"] = interaction.modal
                self.add("interaction_response", interaction.channel, self._state.application.bot, interaction=data)
            case ChannelCreated(channel):
                self.add("channel_create", channel, channel=self._render.channel(channel))
            case ChannelDeleted(channel):
                self.add("channel_delete", channel, channel=self._render.channel(channel))
            case GuildCreated(guild):
                self.add("guild_create", guild={"id": str(guild.id), "name": guild.name})

    def _add_message(self, kind: str, message: Message) -> None:
        channel = self._state.channels[message.channel_id]
        self.add(kind, channel, message.author, message=self.message(message))

    def message(self, message: Message) -> JsonObject:
        """A message with what a reader of the journal wants: no nested reply, but who alone may see it."""
        payload = self._render.message(message, nested=True)
        payload["nonce"] = message.nonce
        payload["reply_to"] = None if message.reply_to is None else str(message.reply_to)
        payload["visible_to"] = None if message.visible_to is None else str(message.visible_to)
        return payload
