"""The local Discord's world, and what the people in it do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.entities import Channel, DenyCode, Guild, Interaction, Message, User
from services.sandbox.discord.forms import MessageForm, Reference
from services.sandbox.discord.interactions import Interactions
from services.sandbox.discord.journal import Entry, Journal
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.posting import Posting
from services.sandbox.discord.render import Render
from services.sandbox.discord.state import State
from services.sandbox.discord.webhooks import Webhooks

ALL_PRIVILEGED_INTENTS = 1 << 1 | 1 << 8 | 1 << 15


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """How a world begins. `intents`: the privileged ones that the bot may ask for; `messages_kept`: a channel;
    `entries_kept`: the journal."""

    token: str = field(default="sandbox-token", repr=False)
    bot_name: str = "odradek"
    intents: int = ALL_PRIVILEGED_INTENTS
    messages_kept: int = 2_000
    entries_kept: int = 10_000


class World:
    """One bot and the guilds, channels and people around it; starts as the guild "Sandbox" with #general and #help."""

    def __init__(self, config: WorldConfig, now_ms: Callable[[], int]) -> None:
        self.state = State(now_ms, config.bot_name, config.token, config.intents)
        self.render = Render(self.state)
        self.journal = Journal(self.state, self.render, config.entries_kept)
        self.posting = Posting(self.state, config.messages_kept)
        self.interactions = Interactions(self.state, self.posting)
        self.webhooks = Webhooks(self.state, self.posting)
        people = (self.state.add_user("ada"), self.state.add_user("grace"))
        guild = self.state.add_guild("Sandbox", people)
        for name in ("general", "help"):
            self.state.add_channel(guild, name)

    @property
    def bot(self) -> User:
        return self.state.application.bot

    @property
    def first_guild(self) -> Guild:
        return next(iter(self.state.guilds.values()))

    def user(self, name: str) -> User:
        """By name or id; raises LookupError."""
        return _find(self.state.users, name, lambda user: user.username, "user")

    def guild(self, name: str) -> Guild:
        """By name or id; raises LookupError."""
        return _find(self.state.guilds, name, lambda guild: guild.name, "guild")

    def channel(self, name: str) -> Channel:
        """By name (with or without "#"; a DM is "@" and the person's name) or id; raises LookupError."""
        return _find(self.state.channels, name.removeprefix("#"), lambda channel: channel.name, "channel")

    def message(self, message_id: int) -> Message:
        """By id, in whichever channel; raises LookupError."""
        for channel in self.state.channels.values():
            if message_id in channel.messages:
                return channel.messages[message_id]
        raise LookupError(f"there is no message {message_id}")

    def add_user(self, username: str, guild: Guild | None = None) -> User:
        """A person, who joins `guild` or the first guild."""
        user = self.state.add_user(username)
        (guild or self.first_guild).members[user.id] = user
        return user

    def add_guild(self, name: str, members: tuple[User, ...] = ()) -> Guild:
        return self.state.add_guild(name, members)

    def add_channel(self, guild: Guild, name: str) -> Channel:
        return self.state.add_channel(guild, name)

    def open_dm(self, user: User) -> Channel:
        return self.state.open_dm(user)

    def delete_channel(self, channel: Channel) -> None:
        self.state.delete_channel(channel)

    def deny(self, channel: Channel, code: DenyCode | None) -> None:
        """Close a channel to the bot (50001: it sees nothing, 50013: it may only read), or open it again."""
        self.state.deny(channel, code)

    def messages(self, channel: Channel) -> list[Message]:
        """All that are kept, the oldest first, ephemeral ones too."""
        return list(channel.messages.values())

    def post_as(
        self,
        user: User,
        channel: Channel,
        content: str,
        reply_to: Message | None = None,
        files: tuple[Upload, ...] = (),
    ) -> Message:
        reference = None if reply_to is None else Reference(message_id=reply_to.id)
        form = MessageForm(content=content, message_reference=reference)
        return self.posting.send(channel, user, form, files)

    def edit_as(self, user: User, message: Message, content: str) -> Message:
        return self.posting.edit(message, user, MessageForm(content=content))

    def delete(self, message: Message) -> None:
        self.posting.delete(message)

    def type_as(self, user: User, channel: Channel) -> None:
        self.posting.type(channel, user)

    def press_button(self, user: User, message: Message, custom_id: str) -> Interaction:
        return self.interactions.press(user, message, custom_id)

    def use_command(
        self, user: User, channel: Channel, name: str, options: Mapping[str, JsonValue] | None = None
    ) -> Interaction:
        return self.interactions.use_command(user, channel, name, options or {})

    def submit_modal(self, user: User, shown: Interaction, values: Mapping[str, str]) -> Interaction:
        return self.interactions.submit_modal(user, shown, values)

    async def wait_for(self, predicate: Callable[[Entry], bool], seconds: float, after: int = 0) -> Entry:
        return await self.journal.wait_for(predicate, seconds, after)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        await self.journal.wait_until(condition, seconds)


_T = TypeVar("_T")


def _find(known: Mapping[int, _T], name: str, name_of: Callable[[_T], str], what: str) -> _T:
    if name.isdigit() and int(name) in known:
        return known[int(name)]
    for found in known.values():
        if name_of(found) == name:
            return found
    raise LookupError(f"there is no {what} {name!r}")
