"""Text from elsewhere, made harmless for a terminal: what could move a cursor or forge a line is shown as an escape."""

import json
import unicodedata

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Controls (ESC and the C1 range among them), line and paragraph separators, lone surrogates, and format characters,
# which turn the direction of text or hide it.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINER = "\u200d"


def printable(text: str) -> str:
    """The text in one line without control or direction characters; the joiner stays, since emoji are made with it."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(letter) for letter in text)


def printable_json(text: str) -> str:
    """JSON text that means the same, with what `printable` would escape in JSON's escapes.

    So a line of it is one line also for readers that end lines at U+0085 and U+2028, as Python's `str.splitlines` does.
    """
    unsafe = {letter for letter in set(text) if letter > "~" and letter != _JOINER and _is_unsafe(letter)}
    return text.translate({ord(letter): json.dumps(letter)[1:-1] for letter in unsafe}) if unsafe else text


def _escaped(letter: str) -> str:
    if letter in _NAMED:
        return _NAMED[letter]
    if letter == _JOINER or not _is_unsafe(letter):
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_unsafe(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSAFE
