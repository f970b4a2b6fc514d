"""Cards under a message, as previews of links: a block each, whose words are others' and stay in quotes."""

from services.context.building.attachments import is_animation
from services.context.building.messages import Embed, HistoryMessage
from services.context.building.names import block
from services.context.hostile import quoted

MOST_DESCRIPTION = 500
MOST_TITLE = 200
MOST_URL = 300
MOST_PREVIEWS = 10


def previews(message: HistoryMessage) -> tuple[str, ...]:
    """The previews of a message that is not the bot's own."""
    if not message.embeds:
        return ()
    told = [preview for embed in message.embeds if not is_animation(embed) and (preview := _preview(embed))]
    return tuple(told[:MOST_PREVIEWS])


def _preview(embed: Embed) -> str:
    title = quoted(embed.title, MOST_TITLE)
    description = quoted(embed.description, MOST_DESCRIPTION)
    if not title and not description:
        return ""
    url = quoted(embed.url or "", MOST_URL)
    said = ": ".join(text for text in (title, description) if text)
    return block(f"Link preview{f' of {url}' if url else ''}: {said}")
