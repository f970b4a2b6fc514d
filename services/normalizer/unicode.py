"""Surrogates: halves of a pair are joined over deltas, and a lone one never leaves the normalizer.

JSON can write a character beyond U+FFFF as two escapes, and a provider that cuts its deltas by UTF-16 units puts one in
each. UTF-8, and so every later record, cannot hold a lone half.
"""

import math
from typing import Any

import orjson

_MAX_DEPTH = 100
_MAX_PLAIN = 16


def is_clean(text: str) -> bool:
    """No surrogates in it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(text: str) -> str:
    """Halves that stand side by side joined, lone ones replaced by U+FFFD."""
    if text.isascii() or is_clean(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_json(value: Any, depth: int = _MAX_DEPTH) -> Any:
    """A JSON value that every reader of ours can hold: clean strings, finite numbers, at most `depth` levels.

    Raises ValueError when the value is deeper or holds a number that JSON cannot write.
    """
    return value if _is_plain(value) or is_fit(value) else _cleaned(value, depth)


def _is_plain(value: Any) -> bool:
    """A small object of nothing but ASCII strings and whole numbers: this costs the same however long a string is."""
    if not isinstance(value, dict) or len(value) > _MAX_PLAIN:  # pyright: ignore[reportUnknownArgumentType]
        return False
    for key, one in value.items():  # pyright: ignore[reportUnknownVariableType]
        if not (key.isascii() and (type(one) is int or one is None or (type(one) is str and one.isascii()))):  # pyright: ignore
            return False
    return True


def doubtful(value: dict[str, Any]) -> list[Any]:
    """What of an object is no ASCII string, and so must be looked at: a signature has thousands of letters."""
    found: list[Any] = []
    for key, one in value.items():
        if not key.isascii():
            found.append(key)
        if type(one) is not str or not one.isascii():
            found.append(one)
    return found


def is_fit(value: Any) -> bool:
    """Nothing in the value needs the closer look of `clean_json`; False where it may be so.

    The fast writer refuses surrogates, and writes odd numbers as null.
    """
    try:
        text = orjson.dumps(value)
    except (TypeError, ValueError):
        return False
    # `in` takes bytes for a number first, which costs more than the search. Each level takes two brackets.
    return text.find(b"null") < 0 and (len(text) <= 2 * _MAX_DEPTH or text.count(b"[") + text.count(b"{") <= _MAX_DEPTH)


def _cleaned(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number beyond the range of JSON readers")
    if isinstance(value, list | dict) and depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_cleaned(one, depth - 1) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {clean(key): _cleaned(one, depth - 1) for key, one in value.items()}  # pyright: ignore
    return value


class PairJoiner:
    """Joins the two halves of a pair when consecutive deltas of one channel hold one each."""

    def __init__(self) -> None:
        self._high = ""

    @property
    def waits(self) -> bool:
        """A high half waits for its other half."""
        return self._high != ""

    def push(self, text: str) -> str:
        """The text that can be published now; a high half at its end waits for the next delta."""
        if not self._high and (text.isascii() or is_clean(text)):
            return text
        text = self._high + text
        self._high = ""
        if text and 0xD800 <= ord(text[-1]) <= 0xDBFF:
            self._high = text[-1]
            text = text[:-1]
        return clean(text)

    def close(self) -> str:
        """What stands for a half that waits in vain."""
        waiting, self._high = self._high, ""
        return "�" if waiting else ""
