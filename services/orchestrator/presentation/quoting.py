"""A provider's words, made fit to be shown: bounded, on one line, without mentions, links in disguise and keys."""

from schemas.redaction import hidden

QUOTE_LIMIT = 300
"""Code points of a provider's message that are shown."""

CODE_LIMIT = 100


def quoted(text: str, limit: int = QUOTE_LIMIT) -> str:
    """The start of the text. Nothing in it pings anybody, opens a code block or hides where a link leads."""
    line = " ".join(hidden(text[: 4 * limit]).split())[:limit]
    return line.replace("`", "'").replace("@", "@\u200b").replace("<", "‹").replace("](", "] (")
