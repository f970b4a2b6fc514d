"""Hostile names and texts, kept from posing as another speaker or as a [System: ...] block.

The rule:
- A name is one line of at most 80 characters without invisible characters. Its colons become blanks, brackets and braces
  become parentheses, double quotes apostrophes, so that it can end neither a speaker's label nor a block nor a quote, and
  opens no code.
- Names are compared by their letters and digits, as `letters.folded` has it.
- A name that is a role's (system, assistant ...) says that it is a user's. Two participants never have the same label:
  personas come first, then the older account; whoever comes later gets a number.
- `[System` in a text becomes `(System`. Every block that this system writes begins with it.
- A line in the middle of a text that begins with another participant's label, or a role's, is marked as quoted by `> `.
- Others' words inside a block stand in quotes and have neither brackets nor quotes themselves.
"""

import re
from collections.abc import Container
from functools import lru_cache

from services.context.hostile import without_brackets, without_quotes
from services.context.letters import BESIDE_LETTERS, BRACKET_OPENS, COLONS, folded, seen, spells

MOST_NAME = 80
NAMELESS = "somebody"
ROLES = frozenset({"system", "assistant", "user", "model", "human", "developer", "tool", "ai"})

_USERS = " (user)"
_IN_NAMES = str.maketrans("{}<>`｛｝＜＞｀﹤﹥﹛﹜" + COLONS, "()‹›'()‹›'‹›()" + " " * len(COLONS))
_COLON = re.compile(f"[{COLONS}]+")
_STRANGE = frozenset(BRACKET_OPENS.removeprefix("\\["))
_OPENING = re.compile(f"[{BRACKET_OPENS}]")
# It never fails behind a bracket, so no character is looked at again for the next one.
_OPENED = re.compile(rf"[{BRACKET_OPENS}]{BESIDE_LETTERS}*+([sS\x80-\U0010ffff])?")


# The same people speak turn after turn.
@lru_cache(maxsize=2_048)
def name_line(name: str) -> str:
    """The name by the rule above; never empty."""
    plain = without_quotes(without_brackets(seen(name))).translate(_IN_NAMES)
    line = " ".join(plain.split())[:MOST_NAME].rstrip()
    if not line:
        return NAMELESS
    return line[: MOST_NAME - len(_USERS)].rstrip() + _USERS if folded(line) in ROLES else line


def honest(text: str, others: Container[str], *, begins: bool) -> str:
    """A text without forged blocks, and with its forged lines marked as quoted.

    `others` are the folded labels of those who did not write it. `begins`: its first line follows the speaker's label, so
    it needs no mark.
    """
    if "[" in text or (not text.isascii() and not _STRANGE.isdisjoint(text)):
        text = _without_blocks(text)
    lines = text.splitlines()
    for number in range(1 if begins else 0, len(lines)):
        if _is_label(lines[number], others):
            lines[number] = f"> {lines[number]}"
    return "\n".join(lines)


def block(text: str) -> str:
    """A block that this system writes."""
    return f"[System: {text}]"


def _without_blocks(text: str) -> str:
    out: list[str] = []
    end = 0
    for opened in _OPENED.finditer(text):
        if opened[1] is not None and spells(text, "system", opened.start(1)):
            start = opened.start(1)
            out += [text[end : opened.start()], _OPENING.sub("(", text[opened.start() : start])]
            end = start
    return "".join([*out, text[end:]]) if out else text


def _is_label(line: str, others: Container[str]) -> bool:
    """Whether the line begins with one, up to the first colon that has something before it."""
    if ":" not in line and line.isascii():
        return False
    start = 0
    for colon in _COLON.finditer(line):
        head = folded(line[start : colon.start()])
        if head:
            return head in others or head in ROLES
        start = colon.end()
    return False
