"""The parts of the local Discord's control API that the page reads, as models; what else is in the answers is ignored."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

THINKING = 1 << 7
"""The flag of a message that its interaction's answer has yet to fill.

https://discord.com/developers/docs/resources/message#message-object-message-flags
"""
BUTTON = 2


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Answer):
    id: str
    username: str
    bot: bool = False


class Channel(_Answer):
    id: str
    name: str


class Guild(_Answer):
    id: str
    members: tuple[str, ...]
    channels: tuple[Channel, ...]


class State(_Answer):
    """`seq` is the number of the journal's last entry."""

    seq: int
    bot: User
    users: tuple[User, ...]
    guilds: tuple[Guild, ...]


class Component(_Answer):
    type: int
    label: str | None = None
    custom_id: str | None = None
    disabled: bool = False
    components: tuple["Component", ...] = ()


class Attachment(_Answer):
    filename: str


class Message(_Answer):
    id: str
    channel_id: str
    author: User
    content: str
    timestamp: datetime
    edited_timestamp: datetime | None = None
    flags: int = 0
    components: tuple[Component, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    visible_to: str | None = None


class Messages(_Answer):
    messages: tuple[Message, ...]


class Refusal(_Answer):
    error: str


class MessageEntry(_Answer):
    """A journal entry about a message, as it is after what happened."""

    seq: int
    message: Message


class TypingEntry(_Answer):
    """A journal entry that says who types."""

    seq: int
    channel_id: str
    author: User
