"""The discord.py client of the gateway: it turns Discord's events into calls of intake and stops, and nothing else."""

import asyncio

import discord

from services.gateway.admission import SeenMessage
from services.gateway.controls import StopButton, command_tree
from services.gateway.intake import PAGE, Intake
from services.gateway.metrics import CONNECTED, CONNECTS
from services.gateway.stops import Stops


class GatewayClient(discord.Client):
    """One shard's websocket. Keeps no messages and no members, so its memory does not grow with the guilds' talk."""

    def __init__(self, intake: Intake, stops: Stops, *, shard_id: int, shard_count: int) -> None:
        intents = discord.Intents.none()
        intents.guilds = True
        intents.guild_messages = True
        intents.dm_messages = True
        intents.message_content = True
        super().__init__(
            intents=intents,
            shard_id=shard_id,
            shard_count=shard_count,
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            allowed_mentions=discord.AllowedMentions.none(),
        )
        self.stops = stops
        self.up = asyncio.Event()
        self.down = asyncio.Event()
        self._intake = intake
        self._tree = command_tree(self, stops)
        self.add_dynamic_items(StopButton)

    async def on_connect(self) -> None:
        """A new session: whatever happened since the last one was not told."""
        self._set_up("new")
        if self.user is not None:
            self._intake.connected(self.user.id, self)

    async def on_resumed(self) -> None:
        """The old session goes on, and Discord has told what was missed."""
        self._set_up("resumed")

    async def on_disconnect(self) -> None:
        """The websocket is gone; discord.py tries to resume."""
        CONNECTED.set(0)
        self.up.clear()
        self.down.set()

    async def on_message(self, message: discord.Message) -> None:
        """Runs in a task of its own, up to its end without an await, so messages keep the order of their arrival."""
        channel = message.channel
        guild_id = channel.guild_id if isinstance(channel, discord.PartialMessageable) else None
        self._intake.receive(seen_message(message, message.guild.id if message.guild else guild_id))

    async def messages_after(self, channel_id: int, guild_id: int | None, after: int) -> list[SeenMessage]:
        """A page of a channel's history over REST, the oldest first; raises what discord.py raises."""
        channel = self.get_partial_messageable(channel_id, guild_id=guild_id)
        page = channel.history(limit=PAGE, after=discord.Object(after), oldest_first=True)
        return [seen_message(message, guild_id) async for message in page]

    def _set_up(self, how: str) -> None:
        CONNECTED.set(1)
        CONNECTS.labels(how).inc()
        self.down.clear()
        self.up.set()


def seen_message(message: discord.Message, guild_id: int | None) -> SeenMessage:
    """What admission needs of a message. History does not say in which guild it is, so the caller does."""
    reply_to, reply_to_author = None, None
    if message.type is discord.MessageType.reply and message.reference is not None:
        reply_to = message.reference.message_id
        target = message.reference.resolved
        if isinstance(target, discord.Message):
            reply_to_author = target.author.id
    return SeenMessage(
        id=message.id,
        channel_id=message.channel.id,
        guild_id=guild_id,
        author_id=message.author.id,
        author_name=message.author.display_name,
        author_bot=message.author.bot or message.webhook_id is not None,
        content=message.content,
        mentions=frozenset(user.id for user in message.mentions),
        reply_to=reply_to,
        reply_to_author=reply_to_author,
    )
