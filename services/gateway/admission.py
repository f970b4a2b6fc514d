"""Which Discord messages are addressed to the bot, and the record that each of them becomes."""

import re
from dataclasses import dataclass
from typing import Literal

from schemas.identities import turn_of_message
from schemas.inbox import Author, FoldSettings, MessageReceived
from services.runtime.log import NewRecord
from services.runtime.outputs import output

CONTENT_LIMIT = 8_000
NAME_LIMIT = 100


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """A message as the gateway or a page of history shows it.

    `author_bot` holds for webhooks too. `mentions` are the users that Discord itself says are mentioned.
    `reply_to_author` is None where the message is no reply or its target is gone.
    """

    id: int
    channel_id: int
    guild_id: int | None
    author_id: int
    author_name: str
    author_bot: bool
    content: str
    mentions: frozenset[int] = frozenset()
    reply_to: int | None = None
    reply_to_author: int | None = None


def admit(
    message: SeenMessage, *, bot_id: int, settings: FoldSettings, rules_version: int = 1
) -> MessageReceived | None:
    """The record for a message that is addressed to the bot, None for any other.

    Addressed: a direct message, a reply to the bot, a mention of it. Bots and webhooks count only where they mention
    the bot in their text, so that two bots which reply to each other do not go on for ever; the bot itself never does.
    """
    source = _source(message, bot_id)
    if source is None:
        return None
    return MessageReceived(
        channel_id=str(message.channel_id),
        guild_id=None if message.guild_id is None else str(message.guild_id),
        message_id=str(message.id),
        author=Author(
            id=str(message.author_id),
            name=_encodable(message.author_name)[:NAME_LIMIT],
            bot=message.author_bot,
        ),
        content=_without_address(_encodable(message.content), bot_id)[:CONTENT_LIMIT],
        reply_to=None if message.reply_to is None else str(message.reply_to),
        source=source,
        settings=settings,
        rules_version=rules_version,
    )


def inbox_record(received: MessageReceived) -> NewRecord:
    """The record for the inbox; its id comes from the message, so whoever writes it again writes the same one."""
    return output(
        "inbox",
        received,
        channel=received.channel_id,
        event_id=f"message:{received.message_id}",
        turn=turn_of_message(received.message_id),
    )


def _source(message: SeenMessage, bot_id: int) -> Literal["mention", "reply", "direct"] | None:
    if message.author_id == bot_id:
        return None
    mentioned = bot_id in message.mentions
    inline = mentioned and re.search(_mention(bot_id), message.content) is not None
    if message.author_bot and not inline:
        return None
    if message.guild_id is None:
        return "direct"
    if message.reply_to_author == bot_id:
        return "reply"
    return "mention" if mentioned else None


def _mention(bot_id: int) -> str:
    return rf"<@!?{bot_id}>"


def _without_address(content: str, bot_id: int) -> str:
    """The text without white space and mentions of the bot at its ends; one amid the text is a part of the sentence."""
    ends = rf"\A(?:\s|{_mention(bot_id)})+|(?:(?<=\s)|(?<=>)){_mention(bot_id)}\s*\Z"
    return re.sub(ends, "", content).strip()


def _encodable(text: str) -> str:
    """JSON may smuggle in half a surrogate pair, which no UTF-8 can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
