"""The load's replies: numbered paragraphs in small deltas, so that a message in Discord tells which byte it waited for."""

import re
from dataclasses import dataclass

DELTAS_A_PARAGRAPH = 40
PARAGRAPHS = 8
_WORDS = ("spool", "thread", "star", "wood", "stairs", "flat", "broken", "ends", "old", "rustle", "leaves", "lungs")
_LABEL = re.compile(r"\[(\d+)\.(\d+)\]")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in deltas. `completes[k]` is the index of the delta with the last byte that paragraph k's message needs."""

    number: int
    deltas: tuple[str, ...]
    completes: tuple[int, ...]

    @property
    def text(self) -> str:
        """The whole reply."""
        return "".join(self.deltas)


def make_reply(number: int, *, paragraphs: int = PARAGRAPHS, deltas_a_paragraph: int = DELTAS_A_PARAGRAPH) -> Reply:
    """The reply of turn `number`: a label, words, and a blank line a paragraph, at which its message is decided."""
    deltas: list[str] = []
    completes: list[int] = []
    for paragraph in range(paragraphs):
        deltas.append(f"[{number}.{paragraph}]")
        deltas.extend(f" {_WORDS[(number + paragraph + n) % len(_WORDS)]}" for n in range(deltas_a_paragraph - 2))
        completes.append(len(deltas))
        deltas.append(".\n\n")
    return Reply(number, tuple(deltas), tuple(completes))


def label_of(message: str) -> tuple[int, int] | None:
    """(turn's number, paragraph) of a message that shows a paragraph or a part of one; None for any other text."""
    found = _LABEL.match(message)
    return None if found is None else (int(found[1]), int(found[2]))
