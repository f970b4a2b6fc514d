"""A channel's history over Discord's REST API.

https://discord.com/developers/docs/resources/message#get-channel-messages
"""

import discord

from services.context.history import HistoryClosed, HistoryMessage
from services.runtime.discord import UNREACHABLE, RestSession, bounded
from services.runtime.errors import Unavailable

MOST_WAIT_S = 20.0
"""A Discord that answers nothing for so long counts as down."""


class DiscordHistory:
    """The real history port, on a REST session that somebody else keeps open."""

    def __init__(self, session: RestSession) -> None:
        self._session = session

    def bot_id(self) -> str:
        """The snowflake of the bot; raises Unavailable while it is not known."""
        user = self._session.client().user
        if user is None:
            raise Unavailable("discord", "the client does not know its user yet")
        return str(user.id)

    async def before(self, channel_id: str, message_id: str, limit: int) -> tuple[HistoryMessage, ...]:
        """Up to `limit` messages that came before one. Raises HistoryClosed, or Unavailable while Discord is down."""
        client = self._session.client()
        channel = client.get_partial_messageable(int(channel_id))
        try:
            async with bounded(client, MOST_WAIT_S):
                messages = [
                    message
                    async for message in channel.history(limit=limit, before=discord.Object(int(message_id)))
                    if not message.is_system()
                ]
        except (discord.Forbidden, discord.NotFound) as error:
            raise HistoryClosed(f"status {error.status}, code {error.code}") from error
        except discord.HTTPException as error:
            raise Unavailable("discord", f"reading history failed with status {error.status}") from error
        except UNREACHABLE as error:
            raise Unavailable("discord", f"reading history failed ({type(error).__name__})") from error
        return tuple(_neutral(message) for message in messages)


def _neutral(message: discord.Message) -> HistoryMessage:
    return HistoryMessage(
        id=str(message.id),
        author_id=str(message.author.id),
        author_name=message.author.display_name,
        content=message.content,
    )
