"""What the world consists of: users, guilds, channels, messages, webhooks, interactions, commands."""

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from services.sandbox.discord.jsontypes import JsonObject

SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6
LOADING = 1 << 7
SUPPRESS_NOTIFICATIONS = 1 << 12
COMPONENTS_V2 = 1 << 15

DenyCode = Literal[50001, 50013]
"""How a channel is closed to the bot: 50001 hides it, 50013 makes it read-only."""
HIDDEN: DenyCode = 50001


class ChannelKind(IntEnum):
    TEXT = 0
    DM = 1


class MessageKind(IntEnum):
    DEFAULT = 0
    REPLY = 19
    COMMAND = 20


class InteractionKind(IntEnum):
    COMMAND = 2
    COMPONENT = 3
    MODAL = 5


class CallbackKind(IntEnum):
    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    MODAL = 9


@dataclass(frozen=True, slots=True)
class User:
    id: int
    username: str
    bot: bool = False
    webhook: bool = False


@dataclass(slots=True, eq=False)
class Guild:
    id: int
    name: str
    owner_id: int
    members: dict[int, User] = field(default_factory=dict[int, User])
    channel_ids: list[int] = field(default_factory=list[int])
    joined_ms: int = 0


@dataclass(frozen=True, slots=True)
class Attachment:
    id: int
    filename: str
    size: int
    content_type: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The interaction that a message answers; `name` is the command's."""

    id: int
    kind: InteractionKind
    user: User
    name: str | None


@dataclass(slots=True, eq=False)
class Message:
    """A message; `nonce` is the one it was sent with, `visible_to` is set for an ephemeral one."""

    id: int
    channel_id: int
    guild_id: int | None
    author: User
    content: str
    created_ms: int
    kind: MessageKind = MessageKind.DEFAULT
    edited_ms: int | None = None
    nonce: str | int | None = None
    reply_to: int | None = None
    embeds: list[JsonObject] = field(default_factory=list[JsonObject])
    components: list[JsonObject] = field(default_factory=list[JsonObject])
    attachments: tuple[Attachment, ...] = ()
    flags: int = 0
    mentions: tuple[User, ...] = ()
    mention_everyone: bool = False
    webhook_id: int | None = None
    application_id: int | None = None
    origin: "Origin | None" = None
    visible_to: int | None = None


@dataclass(slots=True, eq=False)
class Channel:
    """A text channel, or a DM between the bot and `recipient`; messages are ordered by id, the oldest first."""

    id: int
    kind: ChannelKind
    name: str
    guild_id: int | None
    recipient: User | None = None
    position: int = 0
    denied: DenyCode | None = None
    messages: OrderedDict[int, Message] = field(default_factory=OrderedDict[int, Message])


@dataclass(frozen=True, slots=True)
class Webhook:
    id: int
    token: str
    name: str
    channel_id: int
    guild_id: int | None
    owner: User


@dataclass(slots=True, eq=False)
class Interaction:
    """A use of the bot; `answered` is how the bot acknowledged it, `original_id` the message that this
    made or changed, `modal` the form that it showed, `named` what its options name by id."""

    id: int
    token: str
    kind: InteractionKind
    user: User
    channel: Channel
    data: JsonObject
    created_ms: int
    message: Message | None = None
    answered: CallbackKind | None = None
    original_id: int | None = None
    modal: JsonObject | None = None
    named: "tuple[User | Channel, ...]" = ()

    @property
    def origin(self) -> Origin:
        name = self.data.get("name")
        return Origin(self.id, self.kind, self.user, name if isinstance(name, str) else None)


@dataclass(frozen=True, slots=True)
class Application:
    """The bot's application; `intents` are the privileged ones that it may ask for."""

    id: int
    bot: User
    owner: User
    token: str = field(repr=False)
    intents: int

    @property
    def flags(self) -> int:
        """Tells which privileged intents are allowed: presences, members, message content."""
        flags = {1 << 8: 1 << 13, 1 << 1: 1 << 15, 1 << 15: 1 << 19}
        return sum(flag for intent, flag in flags.items() if self.intents & intent)
