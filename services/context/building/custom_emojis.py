"""Discord's custom emojis in a text, and the code spans in which nothing is one.

https://discord.com/developers/docs/reference#message-formatting
"""

import re
from collections.abc import Callable

import msgspec

_CODE = re.compile(r"```.*?```|``[^\n]*?``|`[^`\n]+`", re.DOTALL)
_TAG = re.compile(r"<a?:(\w{2,32}):([0-9]{1,20})>")


class CustomEmoji(msgspec.Struct, frozen=True, gc=False):
    """An emoji of some server."""

    id: str
    name: str

    @property
    def url(self) -> str:
        """Its picture, a PNG also where it is animated."""
        return f"https://cdn.discordapp.com/emojis/{self.id}.png"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text, changed in all places but code."""
    if "`" not in text:
        return change(text)
    out: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        out += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*out, change(text[end:])])


def shortened(plain: str) -> str:
    """A text without code, with `:name:` in the place of each tag."""
    return _TAG.sub(r":\1:", plain) if _may_have_tags(plain) else plain


def custom_emojis(text: str) -> list[CustomEmoji]:
    """All that stand in the text outside of code, in order."""
    if not _may_have_tags(text):
        return []
    plain = _CODE.sub(" ", text) if "`" in text else text
    return [CustomEmoji(tag[2], tag[1]) for tag in _TAG.finditer(plain)]


def _may_have_tags(text: str) -> bool:
    return "<" in text and ("<:" in text or "<a:" in text)
