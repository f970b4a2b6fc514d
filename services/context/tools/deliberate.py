"""Deliberate tool mode: a model is offered the tools that a message asks for, and those of the last turns."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

DEFAULT_TURNS = 4
MOST_TURNS = 10
"""Turns for which a tool that succeeded stays on offer."""
MOST_CHARACTERS = 8_000
"""Of the message that are looked at."""

_WITHOUT_SPACES = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Kana, Han and Hangul, whose words are not told apart by spaces."""


def deliberate_allowlist(
    message: str,
    phrases: Mapping[str, Collection[str]],
    succeeded: Sequence[Collection[str]],
    *,
    turns: int = DEFAULT_TURNS,
) -> frozenset[str]:
    """The names of the tools on offer.

    `phrases`: what asks for a tool, by its name, of every language and of the server. `succeeded`: the tools that
    succeeded in each turn before, newest first.

    A phrase is found as whole words whatever their case; one that ends in `*` also as the beginning of a word, one with
    kana, Han or Hangul anywhere.
    """
    text = _plain(message[:MOST_CHARACTERS])
    asked = {tool for tool, known in phrases.items() if any(_occurs(phrase, text) for phrase in known)}
    recent = succeeded[: max(0, min(turns, MOST_TURNS))]
    return frozenset(asked.union(*recent))


def _occurs(phrase: str, text: str) -> bool:
    stem = _plain(phrase.rstrip("*"))
    if not stem:
        return False
    anywhere = _WITHOUT_SPACES.search(stem) is not None
    begins = anywhere or phrase.endswith("*")
    start = text.find(stem)
    while start >= 0:
        end = start + len(stem)
        opens = anywhere or not (_wordy(stem[0]) and _wordy(text[start - 1 : start]))
        closes = begins or not (_wordy(stem[-1]) and _wordy(text[end : end + 1]))
        if opens and closes:
            return True
        start = text.find(stem, start + 1)
    return False


def _wordy(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _plain(text: str) -> str:
    """The text without differences of case, width and spacing."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
