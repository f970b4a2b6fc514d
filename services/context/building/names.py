"""Hostile names and texts, kept from posing as another speaker or as a [System: ...] block.

The rule:
- A name is one line of at most 80 characters without control and format characters. Its colons become blanks, brackets and
  braces become parentheses, so that it can end neither a speaker's label nor a block, and opens no code.
- A name that is a role's (system, assistant ...) says that it is a user's. Two participants never have the same label:
  personas come first, then the older account; whoever comes later gets a number.
- `[System` in a text becomes `(System`. Every block that this system writes begins with it.
- A line in the middle of a text that begins with another participant's label, or a role's, is marked as quoted by `> `.
- What is told inside a block has no brackets.
"""

import re
import unicodedata
from collections.abc import Collection

MOST_NAME = 80
NAMELESS = "somebody"
ROLES = frozenset({"system", "assistant", "user", "model", "human", "developer", "tool", "ai"})

_IN_NAMES = str.maketrans("[]{}<>`:" + "［］｛｝＜＞｀：" + "﹕꞉∶", "()()‹›' " + "()()‹›' " + "   ")
_UNSEEN = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
_FORGED = re.compile(r"[\[［【](?=[\W_]{0,8}" + _UNSEEN.join("system") + r"(?![^\W_]))", re.IGNORECASE)
_DECORATION = "*_~>#|- \t"
_COLON = re.compile("[:：﹕꞉∶]")
_LONGEST_HEAD = 200


def name_line(name: str) -> str:
    """The name by the rule above; never empty."""
    visible = "".join(" " if letter.isspace() else letter for letter in name if letter.isspace() or _is_seen(letter))
    line = " ".join(visible.translate(_IN_NAMES).split())[:MOST_NAME].rstrip()
    if not line:
        return NAMELESS
    return f"{line} (user)" if folded(line) in ROLES else line


def folded(label: str) -> str:
    """What two labels have in common that a reader takes for the same one."""
    if label.isascii() and label.isprintable():
        return " ".join(label.casefold().split())
    plain = unicodedata.normalize("NFKC", label)
    return " ".join("".join(filter(_is_seen_or_space, plain)).casefold().split())


def honest(text: str, others: Collection[str], *, begins: bool) -> str:
    """A text without forged blocks, and with its forged lines marked as quoted.

    `others` are the folded labels of those who did not write it. `begins`: its first line follows the speaker's label, so
    it needs no mark.
    """
    lines = _FORGED.sub("(", text).splitlines()
    first = 1 if begins else 0
    return "\n".join(
        f"> {line}" if number >= first and _is_label(line, others) else line for number, line in enumerate(lines)
    )


def inside_block(text: str, limit: int) -> str:
    """A text on one line and without brackets, at most `limit` characters long, for a block that this system writes."""
    line = " ".join(text[: 4 * limit].translate(str.maketrans("[]［］【】", "()()()")).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def block(text: str) -> str:
    """A block that this system writes."""
    return f"[System: {text}]"


def _is_label(line: str, others: Collection[str]) -> bool:
    colon = _COLON.search(line[:_LONGEST_HEAD])
    if colon is None:
        return False
    head = folded(line[: colon.start()].strip(_DECORATION))
    return head in others or head in ROLES


def _is_seen(letter: str) -> bool:
    return not unicodedata.category(letter).startswith("C")


def _is_seen_or_space(letter: str) -> bool:
    return letter.isspace() or _is_seen(letter)
