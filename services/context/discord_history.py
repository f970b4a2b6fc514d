"""A channel's history over Discord's REST API.

https://discord.com/developers/docs/resources/message#get-channel-messages
"""

import discord

from services.context.building.messages import Attachment, Embed, HistoryMessage, Sticker, Voice
from services.context.history import HistoryClosed
from services.runtime.discord import UNREACHABLE, RestSession, bounded
from services.runtime.errors import Unavailable

MOST_WAIT_S = 20.0
"""A Discord that answers nothing for so long counts as down."""

_MOST_A_CALL = 100


class DiscordHistory:
    """The real history port, on a REST session that somebody else keeps open."""

    def __init__(self, session: RestSession) -> None:
        self._session = session

    def bot_id(self) -> str:
        """The snowflake of the bot; raises Unavailable while it is not known."""
        return str(self._bot().id)

    def bot_name(self) -> str:
        """The name of the bot's account; raises Unavailable while it is not known."""
        return self._bot().display_name

    async def up_to(self, channel_id: str, message_id: str, limit: int) -> tuple[HistoryMessage, ...]:
        """Up to `limit` messages before one, and that one if it is still there: one call, so 100 of them at most.

        Raises HistoryClosed, or Unavailable while Discord is down.
        """
        client = self._session.client()
        channel = client.get_partial_messageable(int(channel_id))
        try:
            async with bounded(client, MOST_WAIT_S):
                behind = discord.Object(int(message_id) + 1)
                messages = [
                    message
                    async for message in channel.history(limit=min(limit + 1, _MOST_A_CALL), before=behind)
                    if not message.is_system()
                ]
        except (discord.Forbidden, discord.NotFound) as error:
            raise HistoryClosed(f"status {error.status}, code {error.code}") from error
        except discord.HTTPException as error:
            raise Unavailable("discord", f"reading history failed with status {error.status}") from error
        except UNREACHABLE as error:
            raise Unavailable("discord", f"reading history failed ({type(error).__name__})") from error
        return tuple(_neutral(message, client.application_id) for message in messages)

    def _bot(self) -> discord.ClientUser:
        user = self._session.client().user
        if user is None:
            raise Unavailable("discord", "the client does not know its user yet")
        return user


def _neutral(message: discord.Message, application_id: int | None) -> HistoryMessage:
    reference = message.reference
    return HistoryMessage(
        id=str(message.id),
        author_id=str(message.author.id),
        author_name=message.author.display_name,
        content=message.content,
        voice=_voice(message, application_id),
        attachments=tuple(
            Attachment(file.url, file.filename, file.content_type, file.size) for file in message.attachments
        ),
        embeds=tuple(_embed(embed) for embed in message.embeds),
        stickers=tuple(_sticker(sticker) for sticker in message.stickers),
        names=_names(message),
        reply_to=None if reference is None or reference.message_id is None else str(reference.message_id),
    )


def _voice(message: discord.Message, application_id: int | None) -> Voice:
    if message.webhook_id is None:
        return "account"
    return "own_webhook" if application_id is not None and message.application_id == application_id else "other_webhook"


def _embed(embed: discord.Embed) -> Embed:
    return Embed(
        title=embed.title or "",
        description=embed.description or "",
        url=embed.url,
        video_url=embed.video.url,
        image_url=embed.image.url or embed.thumbnail.url,
    )


def _sticker(sticker: discord.StickerItem) -> Sticker:
    has_picture = sticker.format is not discord.StickerFormatType.lottie
    return Sticker(
        sticker.name, sticker.url if has_picture else None, is_animated=sticker.format is discord.StickerFormatType.gif
    )


def _names(message: discord.Message) -> tuple[tuple[str, str], ...]:
    users = ((str(user.id), user.display_name) for user in message.mentions)
    roles = ((str(role.id), role.name) for role in message.role_mentions)
    channels = ((str(channel.id), str(channel)) for channel in message.channel_mentions)
    return (*users, *roles, *channels)
