"""The shape of a think tag, defined once, for all who look for one: normalizer, text buffer, last sweep of a message.

`<think>`, `</think>`, and both with a vendor's namespace before the name, such as `<mm:think>`. Any namespace counts, and
so does upper case; attributes do not make a tag.
"""

import re

_NAMES = ("think",)
"""Another word for the same tag is another entry."""
_NAMESPACE = r"[a-z][a-z0-9_.-]{0,31}"

THINK_TAG = re.compile(rf"<(?P<closes>/?)(?:{_NAMESPACE}:)?(?:{'|'.join(_NAMES)})>", re.IGNORECASE | re.ASCII)


def _begun(name: str) -> str:
    """All prefixes of the name, the empty one too."""
    pattern = ""
    for letter in reversed(name):
        pattern = f"(?:{letter}{pattern})?"
    return pattern


# A name without a namespace looks like a namespace that has just begun.
_BEGUN = re.compile(rf"</?(?:{_NAMESPACE}(?::(?:{'|'.join(map(_begun, _NAMES))}))?)?", re.IGNORECASE | re.ASCII)


def held_from(text: str) -> int:
    """Where the longest end of the text begins that more text may turn into a tag; the text's length if none does."""
    start = text.rfind("<")
    return len(text) if start < 0 or not _BEGUN.fullmatch(text, start) else start


def without_think_tags(text: str) -> str:
    """The text without think tags; what stands between them stays."""
    return THINK_TAG.sub("", text) if "<" in text else text
