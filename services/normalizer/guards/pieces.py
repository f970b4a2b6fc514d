"""Tokens that are looked for in text that comes in pieces."""

from collections.abc import Iterable


def held_from(text: str, start: int, end: int, tokens: Iterable[str]) -> int:
    """Where the end of text[start:end] begins that may become one of the tokens, `end` if none does.

    Each token has its only `<` in front.
    """
    found = text.rfind("<", start, end)
    return found if found >= 0 and any(token.startswith(text[found:end]) for token in tokens) else end
