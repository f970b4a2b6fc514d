"""Where the history begins: behind the last mark by which somebody had the bot forget what was before."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.context.building.messages import Embed, HistoryMessage, Mark


@dataclass(frozen=True, slots=True)
class Remembered:
    """`summary` is what a compact mark says of the messages that it stands for; empty where there is none."""

    messages: tuple[HistoryMessage, ...]
    summary: str = ""


def after_last_mark(messages: Sequence[HistoryMessage], bot_id: str) -> Remembered:
    """The messages behind the last mark, of messages from the oldest to the newest. Only the bot's own embeds are marks."""
    for index in range(len(messages) - 1, -1, -1):
        for embed in reversed(messages[index].embeds):
            if embed.mark is not None and messages[index].author_id == bot_id:
                return Remembered(tuple(messages[index + 1 :]), _summary(embed, embed.mark))
    return Remembered(tuple(messages))


def _summary(embed: Embed, mark: Mark) -> str:
    return embed.description if mark == "compact" else ""
