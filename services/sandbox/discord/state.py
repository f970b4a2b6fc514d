"""The world's registry: who and what exists, found by id, and who listens to changes."""

import secrets
from collections.abc import Callable

from services.sandbox.discord.entities import HIDDEN, Application, Channel, ChannelKind, DenyCode, Guild, Message, User
from services.sandbox.discord.errors import missing_access, missing_permissions, unknown_channel, unknown_message
from services.sandbox.discord.events import ChannelCreated, ChannelDeleted, GuildCreated, WorldEvent
from services.sandbox.discord.snowflakes import Snowflakes

Listener = Callable[[WorldEvent], None]


class State:
    """Users, guilds and channels. `now_ms` is Unix time in milliseconds."""

    def __init__(self, now_ms: Callable[[], int], bot_name: str, token: str, intents: int) -> None:
        self.now_ms = now_ms
        self.snowflakes = Snowflakes(now_ms)
        self.users = dict[int, User]()
        self.guilds = dict[int, Guild]()
        self.channels = dict[int, Channel]()
        self._listeners = list[Listener]()
        self.application = Application(
            id=self.snowflakes.make(),
            bot=self.add_user(bot_name, bot=True),
            owner=self.add_user("owner"),
            token=token,
            intents=intents,
        )

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def emit(self, event: WorldEvent) -> None:
        for listener in self._listeners:
            listener(event)

    def new_token(self) -> str:
        return secrets.token_urlsafe(48)

    def add_user(self, username: str, *, bot: bool = False) -> User:
        user = User(self.snowflakes.make(), username, bot)
        self.users[user.id] = user
        return user

    def add_guild(self, name: str, members: tuple[User, ...] = ()) -> Guild:
        """A guild with the bot, its owner and `members`."""
        application = self.application
        guild = Guild(self.snowflakes.make(), name, application.owner.id, joined_ms=self.now_ms())
        guild.members = {user.id: user for user in (application.owner, application.bot, *members)}
        self.guilds[guild.id] = guild
        self.emit(GuildCreated(guild))
        return guild

    def add_channel(self, guild: Guild, name: str) -> Channel:
        position = len(guild.channel_ids)
        channel = Channel(self.snowflakes.make(), ChannelKind.TEXT, name, guild.id, position=position)
        self.channels[channel.id] = channel
        guild.channel_ids.append(channel.id)
        self.emit(ChannelCreated(channel))
        return channel

    def open_dm(self, user: User) -> Channel:
        """The DM between the bot and `user`, the same one each time."""
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(self.snowflakes.make(), ChannelKind.DM, f"@{user.username}", None, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def delete_channel(self, channel: Channel) -> None:
        if self.channels.pop(channel.id, None) is None:
            return
        guild = self.guilds.get(channel.guild_id or 0)
        if guild is not None:
            guild.channel_ids.remove(channel.id)
        self.emit(ChannelDeleted(channel))

    def deny(self, channel: Channel, code: DenyCode | None) -> None:
        """Close a channel to the bot (50001: it sees nothing, 50013: it may only read), or open it again."""
        channel.denied = code

    def known_to(self, channel: Channel) -> dict[int, User]:
        """Who can be mentioned in a channel."""
        if channel.guild_id is not None:
            return self.guilds[channel.guild_id].members
        return {user.id: user for user in (self.application.bot, channel.recipient) if user is not None}

    def readable(self, channel_id: int) -> Channel:
        channel = self.channels.get(channel_id)
        if channel is None:
            raise unknown_channel()
        if channel.denied == HIDDEN:
            raise missing_access()
        return channel

    def writable(self, channel_id: int) -> Channel:
        channel = self.readable(channel_id)
        if channel.denied is not None:
            raise missing_permissions()
        return channel

    def message(self, channel: Channel, message_id: int) -> Message:
        """A message that everybody in the channel sees."""
        message = channel.messages.get(message_id)
        if message is None or message.visible_to is not None:
            raise unknown_message()
        return message
