"""The end of a reasoning that a backend glued to the first visible delta, without a tag, becomes thinking.

The missing blank is the mark of a backend that joins its reasoning buffer and its content: `wait. Actually` is two
sentences of the model's own, `wait.Actually` is a seam. So only the first visible delta after reasoning is looked at, only
if it starts with a lower-case letter, and only a sentence end that is followed by no blank counts. It is a seam where an
answer may begin behind it (an upper-case or caseless letter, an emoji, a quote, a bracket), or where more than one word
stands before it. Inside inline code, behind an odd number of backticks, nothing is a seam, and a decimal point is none.
A bare name with a dot in it, outside code, may be cut: that is accepted.
"""

import re
import unicodedata

from services.normalizer.events import Event, TextDelta, ThinkingDelta

_ENDS = re.compile(r"[.!?\u2026]+")
_ANOTHER_WORD = re.compile(r"(?<=\s)\S")
_OPENING = frozenset("\"'<")
"""Quotes that are their own closers, and what a custom emoji or a mention of Discord begins with."""


class ReasoningContentSpillGuard:
    """Remembers whether reasoning came last."""

    def __init__(self) -> None:
        self._armed = False

    @property
    def is_idle(self) -> bool:
        """No reasoning came last."""
        return not self._armed

    def read(self, event: Event, out: list[Event]) -> None:
        """Append the event; of the first visible text after reasoning, the spilled part as thinking."""
        if isinstance(event, ThinkingDelta) and event.text:
            self._armed = True
        elif isinstance(event, TextDelta) and self._armed and not event.text.isspace():
            self._armed = False
            seam = seam_in(event.text)
            if seam:
                out.append(ThinkingDelta(event.text[:seam]))
                event = TextDelta(event.text[seam:])
        out.append(event)

    def close(self, out: list[Event]) -> None:
        """Nothing is held back."""


def seam_in(text: str) -> int:
    """Where the answer begins behind spilled reasoning; 0 where there is none."""
    if not text[:1].islower():
        return 0
    another_word = _ANOTHER_WORD.search(text)
    second_word = another_word.start() if another_word else len(text)
    backticks = looked = 0
    for end in _ENDS.finditer(text):
        backticks += text.count("`", looked, end.start())
        looked = end.start()
        following = text[end.end() : end.end() + 1]
        if not following or following.isspace() or backticks % 2:
            continue
        if following.isdigit() and text[end.start() - 1].isdigit():
            continue
        if _begins_an_answer(following) or second_word < end.start():
            return end.end()
    return 0


def _begins_an_answer(char: str) -> bool:
    if char.isalpha():
        return not char.islower()
    # So and Cs: an emoji, or the first half of one. Ps and Pi: opening brackets and quotes.
    return char in _OPENING or unicodedata.category(char) in ("So", "Cs", "Ps", "Pi")
