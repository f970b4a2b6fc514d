"""What of a message's text the model reads: no snowflakes, custom emojis by name, and nothing that poses as another's."""

import re
from collections.abc import Mapping

from services.context.building.custom_emojis import outside_code, shortened
from services.context.building.names import name_line

_MENTION = re.compile(r"<(@!?|@&|#)([0-9]{1,20})>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,100}):[0-9]{1,20}>")
_NOBODY = {"@": "@someone", "@!": "@someone", "@&": "@role", "#": "#channel"}


def worded(content: str, bot_id: str, names: Mapping[str, str]) -> str:
    """The text, without the mention of the bot with which it may begin.

    `names` are those of users, roles and channels by id; mentions of others say only what they are of. Code stays as it is.
    """

    def named(mention: re.Match[str]) -> str:
        name = names.get(mention[2])
        return _NOBODY[mention[1]] if name is None else f"{mention[1][0]}{name_line(name)}"

    def plain(text: str) -> str:
        return _COMMAND.sub(r"\1", _MENTION.sub(named, shortened(text)))

    return outside_code(without_call(content, bot_id), plain).strip()


def without_call(content: str, bot_id: str) -> str:
    """The text without the mention of the bot that it begins with."""
    return re.sub(rf"\A\s*<@!?{re.escape(bot_id)}>[\s,:]*", "", content).strip()
