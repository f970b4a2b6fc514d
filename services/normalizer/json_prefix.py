"""Reads the text of one JSON object as it comes: may more text still complete it, and what of it is whole already.

Strict as RFC 8259 is, and at most MAX_DEPTH levels deep. A character is looked at once, and only the open containers
are remembered, so it costs the same however the text was cut.
"""

import re
from enum import Enum, auto
from typing import assert_never

MAX_DEPTH = 100

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_BLANK = " \t\n\r"
_WORDS = {"t": "true", "f": "false", "n": "null"}
_DIGITS = "0123456789"
_NUMBER: dict[str, list[tuple[str, str]]] = {
    "-": [("0", "0"), (_DIGITS, "1")],
    "0": [(".", "."), ("eE", "e")],
    "1": [(_DIGITS, "1"), (".", "."), ("eE", "e")],
    ".": [(_DIGITS, "f")],
    "f": [(_DIGITS, "f"), ("eE", "e")],
    "e": [("+-", "s"), (_DIGITS, "x")],
    "s": [(_DIGITS, "x")],
    "x": [(_DIGITS, "x")],
}
"""Where a number may go from: after its sign, a leading zero, digits, the point, fraction, exponent."""
_NUMBER_MAY_END = "01fx"


class _Place(Enum):
    START = auto()
    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    FIRST_ITEM = auto()
    VALUE = auto()
    AFTER_VALUE = auto()
    STRING = auto()
    ESCAPE = auto()
    HEX = auto()
    NUMBER = auto()
    WORD = auto()
    END = auto()


class JsonPrefix:
    """What is known of the text so far.

    `malformed`: no continuation makes it a JSON object. `whole`: it is one. `safe`: so many characters, closed by
    `closers`, are a JSON object without any fragment: each key in it has its value, each token its end.
    """

    def __init__(self) -> None:
        self.malformed = False
        self.safe = 0
        self._read = 0
        self._place = _Place.START
        self._open: list[str] = []
        self._in_key = False
        self._hex_left = 0
        self._number = ""
        self._word = ""

    @property
    def whole(self) -> bool:
        """The object is closed."""
        return self._place is _Place.END

    @property
    def closers(self) -> str:
        """What closes the containers that are open at `safe`: none opens or closes without being safe itself."""
        return "".join(reversed(self._open))

    @property
    def in_string(self) -> bool:
        """The text so far ends inside a string."""
        return self._place in (_Place.STRING, _Place.ESCAPE, _Place.HEX)

    def feed(self, text: str, start: int = 0, end: int | None = None) -> int:
        """Read on from `start` to `end`, to the object's end, or to the first character that cannot stand there.

        Returns the index behind what was read.
        """
        at = start
        end = len(text) if end is None else end
        while at < end and not self.whole and not self.malformed:
            if self._place is _Place.STRING:
                plain = _PLAIN.match(text, at, end)
                stop = plain.end() if plain else at
                self._read += stop - at
                at = stop
                if at == end:
                    break
            if not self._step(text[at]):
                self.malformed = True
                break
            self._read += 1
            at += 1
        return at

    def _step(self, char: str) -> bool:
        match self._place:
            case _Place.STRING:
                return self._in_string(char)
            case _Place.ESCAPE:
                self._hex_left = 4
                self._place = _Place.HEX if char == "u" else _Place.STRING
                return char in '"\\/bfnrtu'
            case _Place.HEX:
                self._hex_left -= 1
                self._place = _Place.HEX if self._hex_left else _Place.STRING
                return char in "0123456789abcdefABCDEF"
            case _Place.NUMBER:
                return self._in_number(char)
            case _Place.WORD:
                fits = self._word.startswith(char)
                self._word = self._word[1:]
                if fits and not self._word:
                    self._value_ended(1)
                return fits
            case _:
                return char in _BLANK or self._structure(char)

    def _in_string(self, char: str) -> bool:
        if char == "\\":
            self._place = _Place.ESCAPE
        elif char != '"':
            return False
        elif self._in_key:
            self._in_key = False
            self._place = _Place.COLON
        else:
            self._value_ended(1)
        return True

    def _in_number(self, char: str) -> bool:
        for chars, following in _NUMBER[self._number]:
            if char in chars:
                self._number = following
                return True
        if self._number not in _NUMBER_MAY_END:
            return False
        self._value_ended(0)
        return char in _BLANK or self._structure(char)

    def _structure(self, char: str) -> bool:
        place = self._place
        match place:
            case _Place.START:
                return char == "{" and self._opened(char)
            case _Place.FIRST_KEY | _Place.KEY:
                if char == '"':
                    self._in_key = True
                    self._place = _Place.STRING
                    return True
                return place is _Place.FIRST_KEY and char == "}" and self._closed()
            case _Place.COLON:
                self._place = _Place.VALUE
                return char == ":"
            case _Place.FIRST_ITEM | _Place.VALUE:
                if place is _Place.FIRST_ITEM and char == "]":
                    return self._closed()
                return self._value_begun(char)
            case _Place.AFTER_VALUE:
                if char == ",":
                    self._place = _Place.KEY if self._open[-1] == "}" else _Place.VALUE
                    return True
                return char == self._open[-1] and self._closed()
            case _Place.STRING | _Place.ESCAPE | _Place.HEX | _Place.NUMBER | _Place.WORD | _Place.END:
                raise AssertionError(place)
            case _:
                assert_never(place)

    def _value_begun(self, char: str) -> bool:
        if char in "{[":
            return self._opened(char)
        if char == '"':
            self._place = _Place.STRING
        elif char in _WORDS:
            self._place = _Place.WORD
            self._word = _WORDS[char][1:]
        elif char == "-" or char in _DIGITS:
            self._place = _Place.NUMBER
            self._number = char if char in "-0" else "1"
        else:
            return False
        return True

    def _opened(self, char: str) -> bool:
        self._open.append("}" if char == "{" else "]")
        self._place = _Place.FIRST_KEY if char == "{" else _Place.FIRST_ITEM
        self.safe = self._read + 1
        return len(self._open) <= MAX_DEPTH

    def _closed(self) -> bool:
        self._open.pop()
        self._value_ended(1)
        return True

    def _value_ended(self, with_this: int) -> None:
        self.safe = self._read + with_this
        self._place = _Place.AFTER_VALUE if self._open else _Place.END
