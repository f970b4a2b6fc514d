"""What of a message's text the model reads: no snowflakes, custom emojis by name, and nothing that poses as another's."""

import re
from collections.abc import Callable

from services.context.building.custom_emojis import outside_code, shortened

Named = Callable[[str], str | None]
"""The name line of a user, role or channel by its id, None where nobody knows it."""

_MENTION = re.compile(r"<(@!?|@&|#)([0-9]{1,20})>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,100}):[0-9]{1,20}>")
_NOBODY = {"@": "@someone", "@!": "@someone", "@&": "@role", "#": "#channel"}


def worded(words: str, named: Named) -> str:
    """The text in words. Mentions of whom nobody knows say only what they are of. Code stays as it is."""

    def mentioned(mention: re.Match[str]) -> str:
        name = named(mention[2])
        return _NOBODY[mention[1]] if name is None else f"{mention[1][0]}{name}"

    def plain(text: str) -> str:
        said = shortened(text)
        if "<@" in said or "<#" in said:
            said = _MENTION.sub(mentioned, said)
        return _COMMAND.sub(r"\1", said) if "</" in said else said

    return outside_code(words, plain).strip()
