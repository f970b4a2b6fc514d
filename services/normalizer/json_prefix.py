"""Reads the text of one JSON object as it comes: may more text still complete it, and what of it is whole already.

Strict as RFC 8259 is, and at most MAX_DEPTH levels deep. A character is looked at once or twice, and only the open
containers are remembered, so the cost is linear however the text was cut.
"""

import re
from typing import Literal, assert_never

MAX_DEPTH = 100

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_PLAIN_KEY = re.compile(r'[ \t\n\r]*+"[^"\\\x00-\x1f]*+"[ \t\n\r]*+:')
_PLAIN_STRING = re.compile(r'[ \t\n\r]*+"[^"\\\x00-\x1f]*+"')
"""What most keys and strings are, where they came in one piece: a step over all of one instead of one a character."""

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


_Place = Literal[
    "start",
    "first_key",
    "key",
    "colon",
    "first_item",
    "value",
    "after_value",
    "string",
    "escape",
    "hex",
    "number",
    "word",
    "end",
]
"""What may stand next."""


class JsonPrefix:
    """What is known of the text so far.

    `malformed`: no continuation makes it a JSON object. `whole`: it is one. `safe`: so many characters, closed by
    `closers`, are a JSON object without any fragment: each key in it has its value, each token its end.
    """

    def __init__(self) -> None:
        self.malformed = False
        self.safe = 0
        self._read = 0
        self._place: _Place = "start"
        self._open: list[str] = []
        self._in_key = False
        self._hex_left = 0
        self._number = ""
        self._word = ""

    @property
    def whole(self) -> bool:
        """The object is closed."""
        return self._place == "end"

    @property
    def closers(self) -> str:
        """What closes the containers that are open at `safe`: none opens or closes without being safe itself."""
        return "".join(reversed(self._open))

    @property
    def in_string(self) -> bool:
        """The text so far ends inside a string."""
        return self._place in ("string", "escape", "hex")

    def feed(self, text: str, start: int = 0, end: int | None = None) -> int:
        """Read on from `start` to `end`, to the object's end, or to the first character that cannot stand there.

        Returns the index behind what was read.
        """
        at = start
        end = len(text) if end is None else end
        while at < end and self._place != "end" and not self.malformed:
            behind = self._behind_plain(text, at, end)
            if behind:
                at = behind
                continue
            if self._place == "string":
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

    def _behind_plain(self, text: str, at: int, end: int) -> int:
        """Read a key or a string that is plain and whole; returns the index behind it, 0 if there is none."""
        match self._place:
            case "key" | "first_key":
                found = _PLAIN_KEY.match(text, at, end)
            case "value" | "first_item":
                found = _PLAIN_STRING.match(text, at, end)
            case _:
                return 0
        if found is None:
            return 0
        self._read += found.end() - at
        if self._place in ("key", "first_key"):
            self._place = "value"
        else:
            self._value_ended(0)
        return found.end()

    def _step(self, char: str) -> bool:
        match self._place:
            case "string":
                return self._in_string(char)
            case "escape":
                self._hex_left = 4
                self._place = "hex" if char == "u" else "string"
                return char in '"\\/bfnrtu'
            case "hex":
                self._hex_left -= 1
                self._place = "hex" if self._hex_left else "string"
                return char in "0123456789abcdefABCDEF"
            case "number":
                return self._in_number(char)
            case "word":
                fits = self._word.startswith(char)
                self._word = self._word[1:]
                if fits and not self._word:
                    self._value_ended(1)
                return fits
            case _:
                return char in _BLANK or self._structure(char)

    def _in_string(self, char: str) -> bool:
        if char == "\\":
            self._place = "escape"
        elif char != '"':
            return False
        elif self._in_key:
            self._in_key = False
            self._place = "colon"
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
            case "start":
                return char == "{" and self._opened(char)
            case "first_key" | "key":
                if char == '"':
                    self._in_key = True
                    self._place = "string"
                    return True
                return place == "first_key" and char == "}" and self._closed()
            case "colon":
                self._place = "value"
                return char == ":"
            case "first_item" | "value":
                if place == "first_item" and char == "]":
                    return self._closed()
                return self._value_begun(char)
            case "after_value":
                if char == ",":
                    self._place = "key" if self._open[-1] == "}" else "value"
                    return True
                return char == self._open[-1] and self._closed()
            case "string" | "escape" | "hex" | "number" | "word" | "end":
                raise AssertionError(place)
            case _:
                assert_never(place)

    def _value_begun(self, char: str) -> bool:
        if char in "{[":
            return self._opened(char)
        if char == '"':
            self._place = "string"
        elif char in _WORDS:
            self._place = "word"
            self._word = _WORDS[char][1:]
        elif char == "-" or char in _DIGITS:
            self._place = "number"
            self._number = char if char in "-0" else "1"
        else:
            return False
        return True

    def _opened(self, char: str) -> bool:
        self._open.append("}" if char == "{" else "]")
        self._place = "first_key" if char == "{" else "first_item"
        self.safe = self._read + 1
        return len(self._open) <= MAX_DEPTH

    def _closed(self) -> bool:
        self._open.pop()
        self._value_ended(1)
        return True

    def _value_ended(self, with_this: int) -> None:
        self.safe = self._read + with_this
        self._place = "after_value" if self._open else "end"
