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
from collections.abc import Container

MOST_NAME = 80
NAMELESS = "somebody"
ROLES = frozenset({"system", "assistant", "user", "model", "human", "developer", "tool", "ai"})

_IN_NAMES = str.maketrans("[]{}<>`:" + "［］｛｝＜＞｀：" + "﹕꞉∶", "()()‹›' " + "()()‹›' " + "   ")
_UNSEEN = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
_FORGED = re.compile(r"[\[［【](?=[\W_]{0,8}" + _UNSEEN.join("system") + r"(?![^\W_]))", re.IGNORECASE)
_DECORATION = "*_~>#|- \t"
_COLON = re.compile("[:：﹕꞉∶]")
_BRACKETS = (("[", "("), ("]", ")"), ("［", "("), ("］", ")"), ("【", "("), ("】", ")"))
_LONGEST_HEAD = 200


def name_line(name: str) -> str:
    """The name by the rule above; never empty."""
    line = " ".join(_seen(name).translate(_IN_NAMES).split())[:MOST_NAME].rstrip()
    if not line:
        return NAMELESS
    return f"{line} (user)" if folded(line) in ROLES else line


def folded(label: str) -> str:
    """What two labels have in common that a reader takes for the same one."""
    plain = label if label.isascii() else unicodedata.normalize("NFKC", label)
    return " ".join(_seen(plain).casefold().split())


def honest(text: str, others: Container[str], *, begins: bool) -> str:
    """A text without forged blocks, and with its forged lines marked as quoted.

    `others` are the folded labels of those who did not write it. `begins`: its first line follows the speaker's label, so
    it needs no mark.
    """
    if "[" in text or "［" in text or "【" in text:
        text = _FORGED.sub("(", text)
    lines = text.splitlines()
    for number in range(1 if begins else 0, len(lines)):
        if _is_label(lines[number], others):
            lines[number] = f"> {lines[number]}"
    return "\n".join(lines)


def inside_block(text: str, limit: int) -> str:
    """A text on one line and without brackets, at most `limit` characters long, for a block that this system writes."""
    plain = text[: 4 * limit]
    # A search for each takes a tenth of what it takes to look every letter up.
    for bracket, parenthesis in _BRACKETS:
        plain = plain.replace(bracket, parenthesis)
    line = " ".join(plain.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def block(text: str) -> str:
    """A block that this system writes."""
    return f"[System: {text}]"


def _is_label(line: str, others: Container[str]) -> bool:
    start = line[:_LONGEST_HEAD]
    if ":" in start and start.isascii():
        end = start.index(":")
    elif colon := _COLON.search(start):
        end = colon.start()
    else:
        return False
    head = folded(start[:end].strip(_DECORATION))
    return head in others or head in ROLES


def _seen(text: str) -> str:
    """The text without control and format characters, and the like, but with its whitespace."""
    if text.isprintable():
        return text
    return "".join([letter for letter in text if letter.isprintable() or letter.isspace()])
