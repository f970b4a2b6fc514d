"""A Discord message as the builder reads it: what was said, shown and linked, and through whose account."""

from dataclasses import dataclass
from typing import Literal

Voice = Literal["account", "own_webhook", "other_webhook"]
"""How a message was sent. `own_webhook`: a webhook of this application, so its name is that of a persona.

Anybody who may manage webhooks can give one a persona's name; that makes an `other_webhook`, never a persona.
"""

Mark = Literal["reset", "compact"]
"""What the bot's own embed says of the history before it: that it is over, or that the embed sums it up."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message. `media_type` is what Discord says of it; `size` in bytes."""

    url: str
    name: str
    media_type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Embed:
    """A card under a message. `video_url` and `image_url` are those of its animation or picture."""

    title: str = ""
    description: str = ""
    url: str | None = None
    video_url: str | None = None
    image_url: str | None = None
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Sticker:
    """A sticker; `url` None: it has no picture, as those drawn from a program of vectors."""

    name: str
    url: str | None = None
    is_animated: bool = False


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """A message that somebody wrote; ids are snowflakes, so they tell its time too.

    `author_name` is the name that the channel shows, of a webhook the one of this message. `names` are those of the users,
    roles and channels that `content` mentions, by id. `reply_to` is the message that it answers.
    """

    id: str
    author_id: str
    author_name: str
    content: str
    voice: Voice = "account"
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[Embed, ...] = ()
    stickers: tuple[Sticker, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    reply_to: str | None = None
