"""Text from elsewhere, made harmless for a terminal: what could move a cursor or forge a line is shown as an escape."""

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


def _escaped(letter: str) -> str:
    if letter in _NAMED:
        return _NAMED[letter]
    if letter == _JOINER or unicodedata.category(letter) not in _UNSAFE:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
