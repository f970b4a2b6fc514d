"""Where a known tool's name and an opening parenthesis stand in the text, bare or behind the start of a code span or fence.

Looked for backwards from each parenthesis, so that it costs the same however many tools are known.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MAX_NAME = 128
_MAX_BLANKS = 4
_MAX_WRAPPER = 40
_NAME = re.compile(rf"[A-Za-z0-9_.-]{{1,{_MAX_NAME}}}")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NAME_CHARS = _WORD | frozenset(".-")
_FENCE = r"```[A-Za-z0-9_+-]{0,16}[ \t\r]{0,4}"
_WRAPPER = re.compile(rf"(?<!`)(?:{_FENCE}\n[ \t\r\n]{{0,8}}|`{{1,3}}[ \t]?)\Z")
_WRAPPER_BEGUN = re.compile(rf"(?<!`)(?:{_FENCE}(?:\n[ \t\r\n]{{0,8}})?|`{{1,3}}[ \t]?)\Z")


@dataclass(frozen=True, slots=True)
class Anchor:
    """`start` and `end` of the whole in the text, the wrapper's text (empty for a bare call), the tool's name."""

    start: int
    end: int
    wrapper: str
    name: str


class Anchors:
    """Finds the names of one stream's tools; of those that are made of ASCII letters, digits, `_`, `.` and `-`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name for name in names if _NAME.fullmatch(name))
        self._prefixes = frozenset(name[:end] for name in self._names for end in range(1, len(name) + 1))

    def find(self, text: str, at: int) -> Anchor | None:
        """The first anchor at or behind `at`; what stands before `at` only tells where a word begins."""
        parenthesis = text.find("(", at)
        while parenthesis >= 0:
            end = _without_blanks(text, at, parenthesis)
            start = self._word(text, at, end, self._names)
            if start is not None:
                wrapper = _WRAPPER.search(text, max(at, start - _MAX_WRAPPER), start)
                begin = wrapper.start() if wrapper else start
                return Anchor(begin, parenthesis + 1, text[begin:start], text[start:end])
            parenthesis = text.find("(", parenthesis + 1)
        return None

    def held_from(self, text: str, at: int) -> int:
        """Where the longest end of the text begins that more text may turn into an anchor; its length if none does."""
        begun = _WRAPPER_BEGUN.search(text, max(at, len(text) - _MAX_WRAPPER))
        if begun:
            return begun.start()
        end = _without_blanks(text, at, len(text))
        start = self._word(text, at, end, self._prefixes if end == len(text) else self._names)
        if start is None:
            return len(text)
        wrapper = _WRAPPER.search(text, max(at, start - _MAX_WRAPPER), start)
        return wrapper.start() if wrapper else start

    def match(self, text: str, at: int) -> Anchor | None:
        """The bare anchor that begins at `at`."""
        name = _NAME.match(text, at)
        if name is None or name[0] not in self._names:
            return None
        end = name.end()
        while end < len(text) and end - name.end() < _MAX_BLANKS and text[end] in " \t":
            end += 1
        return Anchor(at, end + 1, "", name[0]) if text.startswith("(", end) else None

    def may_match(self, text: str, at: int) -> bool:
        """More text may make a bare anchor of all that stands from `at` on."""
        end = _without_blanks(text, at, len(text))
        return text[at:end] in (self._prefixes if end == len(text) else self._names)

    def _word(self, text: str, at: int, end: int, words: frozenset[str]) -> int | None:
        """Where the longest of the words begins that ends at `end` and is not the end of a longer word."""
        start = end
        found: int | None = None
        while start > at and end - start < _MAX_NAME and text[start - 1] in _NAME_CHARS:
            start -= 1
            if (start == 0 or text[start - 1] not in _WORD) and text[start:end] in words:
                found = start
        return found


def _without_blanks(text: str, at: int, end: int) -> int:
    """`end` without the blanks before it, up to as many as may stand between a name and its parenthesis."""
    start = end
    while start > at and end - start < _MAX_BLANKS and text[start - 1] in " \t":
        start -= 1
    return start
