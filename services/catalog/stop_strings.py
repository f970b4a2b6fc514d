"""Stop strings as people write them, with escapes, and how many and how long ones a server may have.

A newline is `\\n`, a carriage return `\\r`, a tab `\\t`, a backslash `\\\\`.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import cast

from schemas.ignorable import DEFAULT_IGNORABLE
from services.catalog.errors import NoSuchRow, Refused

MOST = 40
MOST_CHARACTERS = 200

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_MEANINGS = {escape: letter for letter, escape in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\.?", re.DOTALL)
# What nobody can see, nobody can remove again either. The joiner stays, since emoji are made with it.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINER = "\u200d"
# One may stand beside a letter, as in an emoji; of them alone nobody sees anything.
_IGNORABLE = re.compile(f"[{DEFAULT_IGNORABLE}]")


def escaped(text: str) -> str:
    """The stop string in one line; `unescaped` makes it the same again."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def unescaped(written: str) -> str:
    """The stop string that is meant.

    Raises Refused for an unknown escape, a character that cannot be seen, and a text that is empty or too long.
    """
    text = _ESCAPED.sub(_meaning, written)
    if _hides(text):
        raise Refused(f"{_shown(written)} holds a character that cannot be seen")
    if not 1 <= len(text) <= MOST_CHARACTERS:
        raise Refused(f"a stop string has 1 to {MOST_CHARACTERS} characters, and not {len(text)}")
    return text


def added(held: Sequence[str], new: Sequence[str]) -> list[str]:
    """Those that there are and the new ones behind them, each once. Raises Refused where they are too many."""
    made = list(dict.fromkeys((*held, *new)))
    if len(made) > MOST:
        raise Refused(
            f"a server has {MOST} stop strings at most, and these would be {len(made)}", remedy="Remove some first."
        )
    return made


def removed(held: Sequence[str], gone: Sequence[str]) -> list[str]:
    """Those that are left. Raises NoSuchRow for one that is not there."""
    for text in gone:
        if text not in held:
            raise NoSuchRow(
                f"there is no stop string {_shown(escaped(text))}",
                remedy="`odradek model stop-strings list` shows those there are.",
            )
    return [text for text in held if text not in gone]


def usable(held: object) -> list[str]:
    """Those of what stands in the database that a server may have: somebody may have edited it there."""
    texts = cast(list[object], held) if isinstance(held, list) else []
    return [text for text in texts if isinstance(text, str) and _is_usable(text)][:MOST]


def _is_usable(text: str) -> bool:
    return 1 <= len(text) <= MOST_CHARACTERS and not _hides(text)


def _meaning(match: re.Match[str]) -> str:
    meaning = _MEANINGS.get(match[0])
    if meaning is None:
        raise Refused(f"{_shown(match[0])} means nothing in a stop string", remedy="Write a backslash as two.")
    return meaning


def _hides(text: str) -> bool:
    """Whether it holds a character that cannot be seen, or one that is ignored and nothing but blanks beside it."""
    if any(_is_unseen(letter) for letter in text):
        return True
    return _IGNORABLE.search(text) is not None and not _IGNORABLE.sub("", text).strip()


def _is_unseen(letter: str) -> bool:
    return letter not in (*_ESCAPES, _JOINER) and unicodedata.category(letter) in _UNSEEN


def _shown(text: str) -> str:
    return f"'{text[:40]}'"
