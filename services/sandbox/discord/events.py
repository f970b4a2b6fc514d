"""What happened in the world: the gateway tells it to clients, the journal keeps it."""

from dataclasses import dataclass
from typing import TypeAlias

from services.sandbox.discord.entities import CallbackKind, Channel, Guild, Interaction, Message, User


@dataclass(frozen=True, slots=True)
class MessageCreated:
    message: Message


@dataclass(frozen=True, slots=True)
class MessageEdited:
    message: Message


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    message: Message


@dataclass(frozen=True, slots=True)
class TypingStarted:
    channel: Channel
    user: User
    at_ms: int


@dataclass(frozen=True, slots=True)
class InteractionCreated:
    interaction: Interaction


@dataclass(frozen=True, slots=True)
class InteractionAnswered:
    interaction: Interaction
    answer: CallbackKind
    message: Message | None


@dataclass(frozen=True, slots=True)
class ChannelCreated:
    channel: Channel


@dataclass(frozen=True, slots=True)
class ChannelDeleted:
    channel: Channel


@dataclass(frozen=True, slots=True)
class GuildCreated:
    guild: Guild


WorldEvent: TypeAlias = (
    MessageCreated
    | MessageEdited
    | MessageDeleted
    | TypingStarted
    | InteractionCreated
    | InteractionAnswered
    | ChannelCreated
    | ChannelDeleted
    | GuildCreated
)
