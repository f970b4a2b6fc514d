"""Hostile words, made fit for the inside of a block: on one line, without brackets, and in quotes that they cannot end."""

import re

from services.context.letters import BRACKET_OPENS

_CLOSES = "\\]］】〕﹈〗〙〛⟧⁆❳⦘⦌⦎⦐︺︼﹞︘⎤⎦"
_QUOTES = '"＂“”„‟«»″‶ʺ˝❝❞〝〞〟'
_OPEN, _CLOSE, _QUOTE = (re.compile(f"[{some}]") for some in (BRACKET_OPENS, _CLOSES, _QUOTES))


def inside_block(text: str, limit: int) -> str:
    """A text on one line and without brackets, at most `limit` characters long, for a block that this system writes."""
    line = " ".join(text[: 4 * limit].split())
    return without_brackets(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def quoted(text: str, limit: int) -> str:
    """Others' words in a block, in quotes, of which none is left inside; empty where the text has no words.

    At most `limit` characters beside the quotes.
    """
    words = without_quotes(inside_block(text, limit))
    return f'"{words}"' if words else ""


def without_brackets(text: str) -> str:
    """The text with parentheses in the place of whatever looks like a square bracket."""
    # A search for each takes a tenth of what it takes to look every letter up.
    plain = text.replace("[", "(").replace("]", ")")
    return plain if plain.isascii() else _CLOSE.sub(")", _OPEN.sub("(", plain))


def without_quotes(text: str) -> str:
    """The text with apostrophes in the place of whatever looks like a double quote."""
    plain = text.replace('"', "'")
    return plain if plain.isascii() else _QUOTE.sub("'", plain)
