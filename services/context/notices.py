"""What a model reads that nobody said: the notice of a medium that it is not shown, and the request to go on."""

from schemas.context import MediaStage, Medium, OmittedPart
from services.context.hostile import inside_block, quoted, without_quotes

CONTINUE = "[System: Continue your reply exactly where it stopped, without repeating anything.]"
"""Asks for the rest of a reply that has begun, as a user's last words."""
MOST_NAME = 100
"""Characters of a name in a notice."""

_WHY: dict[MediaStage, str] = {
    "download": "it could not be downloaded",
    "validate": "its format is not supported",
    "decode": "it could not be read",
    "encode": "it could not be prepared",
    "limit": "it is over a size limit",
}


def omission(part: OmittedPart, number: int | None = None) -> str:
    """The notice of a medium that could not be had."""
    return notice(part.medium, _WHY[part.stage], name=part.name, number=number)


def notice(medium: Medium, why: str, *, name: str | None = None, number: int | None = None) -> str:
    """The notice of a medium, `why` being a clause. `number` is its place among the request's media of the kind, from 1."""
    what = f"An {medium}" if medium == "image" else f"A {medium}"
    if number is not None:
        what = f"{medium.capitalize()} {number}"
    called = quoted(name or "", MOST_NAME)
    return f"[System: {what}{f' ({called})' if called else ''} is not shown: {why}.]"


def label(number: int, name: str | None) -> str:
    """What stands before an image, so that text can speak of it: `[Image 2: "cat.png"]`."""
    called = quoted(name or "", MOST_NAME)
    return f"[Image {number}: {called}]" if called else f"[Image {number}]"


def file_name(name: str | None) -> str:
    """The name of a file or of its sender, on one line and without brackets and quotes.

    So it can end neither a notice nor its quotes.
    """
    return without_quotes(inside_block(name or "", MOST_NAME))
