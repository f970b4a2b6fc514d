"""What guards share that look for calls in text that comes in pieces."""

from collections.abc import Iterable

from services.normalizer.events import Event, TextDelta

MAX_CALL_CHARS = 256 * 1024
"""What is longer is no call, and is released as the text that it is."""


def held_from(text: str, start: int, end: int, tokens: Iterable[str]) -> int:
    """Where the end of text[start:end] begins that may become one of the tokens, `end` if none does.

    Each token has its only `<` in front.
    """
    found = text.rfind("<", start, end)
    return found if found >= 0 and any(token.startswith(text[found:end]) for token in tokens) else end


def append_text(text: str, out: list[Event]) -> None:
    """Append the text, unless it is empty."""
    if text:
        out.append(TextDelta(text))
