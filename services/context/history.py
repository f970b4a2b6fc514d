"""The history port: what context asks of Discord."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """A message that somebody wrote; ids are snowflakes."""

    id: str
    author_id: str
    author_name: str
    content: str


class HistoryClosed(Exception):
    """Discord does not show the channel's history: no permission, or the channel is gone."""


class History(Protocol):
    """Reads channels."""

    def bot_id(self) -> str:
        """The snowflake of the bot; raises Unavailable while it is not known."""
        ...

    async def before(self, channel_id: str, message_id: str, limit: int) -> tuple[HistoryMessage, ...]:
        """Up to `limit` messages that came before one. Raises HistoryClosed, or Unavailable while Discord is down."""
        ...
