"""What a reader sees of letters: which are invisible, which look alike, and by what two names are the same to the eye."""

import re
import unicodedata

from schemas.ignorable import DEFAULT_IGNORABLE

BRACKET_OPENS = "\\[［【〔﹇〖〘〚⟦⁅❲⦗⦋⦍⦏︹︻﹝︗⎡⎣"
"""What looks like an opening square bracket, as inside of a pattern's class."""
COLONS = ":：﹕︓꞉∶ː˸։׃⦂⁚᠄፡⩴"
"""What looks like a colon."""

_FILLERS = "\u115f\u1160\u3164\uffa0"
_UNSEEN = re.compile(f"[{DEFAULT_IGNORABLE}\u2800]")
"""With the blank pattern of Braille, which is no whitespace either."""
_IN_CIRCLES = "\u249c-\u24e9\U0001f110-\U0001f149"
BESIDE_LETTERS = rf"(?:(?![{_IN_CIRCLES}])[\W_{_FILLERS}])"
"""A pattern of what is neither letter nor digit to the eye. To Python fillers of Hangul are, and letters in circles not."""

_LETTER = re.compile(rf"[^\W_{_FILLERS}]|[{_IN_CIRCLES}]")
_SIGNS = re.compile(r"[\s!-/:-@\[-`{-~]+")
_MARKDOWN = "*_~>#|-`\"'@< \t"
_ASCII_BESIDE_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())


def seen(text: str) -> str:
    """The text without control and format characters and whatever else is invisible, but with its whitespace."""
    if text.isascii() and text.isprintable():
        return text
    plain = _UNSEEN.sub("", text)
    if plain.isprintable():
        return plain
    return "".join([letter for letter in plain if letter.isprintable() or letter.isspace()])


def folded(label: str) -> str:
    """What two labels have in common that a reader takes for the same one: their letters and digits.

    One without letters is told apart by all that is seen of it, but for whitespace and Markdown around it.
    """
    if label.isascii():
        letters = label.encode().translate(None, _ASCII_BESIDE_LETTERS).decode().lower()
        return letters if letters and not letters.isdigit() else _signs(label)
    # Twice, since what compatibility hides may be invisible too.
    plain = seen(unicodedata.normalize("NFKC", seen(label))).casefold()
    letters = _SIGNS.sub("", plain)
    if not letters.isalnum():
        letters = "".join(
            [letter for letter in letters if letter.isalnum() or unicodedata.category(letter)[0] in "LNM"]
        )
    return letters if any(letter.isalpha() for letter in letters) else _signs(plain)


def spells(text: str, word: str, start: int) -> bool:
    """Whether the text goes on with the word, whatever stands between its letters, and no letter right behind it."""
    found = ""
    for letter in _LETTER.finditer(text, start):
        one = letter[0]
        found += one.lower() if one.isascii() else _bare(one)
        if found == word:
            return _LETTER.match(text, letter.end()) is None
        if not word.startswith(found):
            return False
    return False


def _bare(letter: str) -> str:
    return "".join([one for one in unicodedata.normalize("NFKD", letter).casefold() if one.isalnum()])


def _signs(label: str) -> str:
    plain = "".join(seen(label).split())
    return plain.strip(_MARKDOWN) or plain
