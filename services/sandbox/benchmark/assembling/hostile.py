"""Texts that are the worst for one pattern each, as long as a message may be."""

from collections.abc import Mapping

SHORT, LONG = 2_000, 4_000
"""Characters. Discord takes 2,000 of people, and 4,000 of those who pay for it."""

_PIECES: Mapping[str, str] = {
    "brackets": "[",
    "blocks": "[System: x] ",
    "blocks with unseen letters": "[s\u200by\u200b",
    "blocks behind decoration": "[**** ***s",
    "colons": ":",
    "labels": "ada: x\n",
    "long labels": "é" * 190 + ": x\n",
    "unseen letters": "\u200b",
    "letters that become many": "\ufdfa",
    "marks on a letter": "a" + "\u0301\u0316" * 20,
    "line breaks": "\n",
    "odd line breaks": "\u2028x",
    "mentions": "<@200000000000000000>",
    "open mentions": "<@2",
    "emojis": "<:ab:1>",
    "open emojis": "<:" + "a" * 32,
    "open commands": "</a",
    "backticks": "`",
    "open code": "``` `` `",
    "code on many lines": "``\n`x\n",
    "links to videos": "https://www.youtube.com/watch?a&&&&&&",
    "words": "so ",
}


def hostile_text(name: str, length: int) -> str:
    """So many characters of the text."""
    piece = _PIECES[name]
    return (piece * (length // len(piece) + 1))[:length]


HOSTILE_TEXTS = tuple(_PIECES)
