"""The history port: what context asks of Discord."""

from typing import Protocol

from services.context.building.messages import HistoryMessage


class HistoryClosed(Exception):
    """Discord does not show the channel's history: no permission, or the channel is gone."""


class History(Protocol):
    """Reads channels."""

    def bot_id(self) -> str:
        """The snowflake of the bot; raises Unavailable while it is not known."""
        ...

    def bot_name(self) -> str:
        """The name of the bot's account; raises Unavailable while it is not known."""
        ...

    async def up_to(self, channel_id: str, message_id: str, limit: int) -> tuple[HistoryMessage, ...]:
        """Up to `limit` messages that came before one, and that one if it is still there, in any order.

        Raises HistoryClosed, or Unavailable while Discord is down.
        """
        ...
