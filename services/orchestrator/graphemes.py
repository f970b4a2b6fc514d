"""Where a text without spaces may be cut so that no visible character falls apart."""

import unicodedata

LOOK_BACK = 32
"""Code points that a cut moves back at most; a longer cluster is cut through."""

_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Mc", "Me"})


def safe_cut(text: str, low: int, cut: int) -> int:
    """The last index in `(low, cut]`, at most `LOOK_BACK` before `cut`, that splits neither a cluster nor backticks.

    `cut` itself where there is none. Clusters are approximated: combining marks, variation selectors, skin tones,
    joiners, and regional indicators, which are never parted from each other.
    """
    for index in range(cut, max(low, cut - LOOK_BACK), -1):
        if not _holds_together(text[index - 1], text[index]):
            return index
    return cut


def _holds_together(left: str, right: str) -> bool:
    return (
        left == right == "`"
        or _JOINER in (left, right)
        or _extends(right)
        or (_is_regional_indicator(left) and _is_regional_indicator(right))
    )


def _extends(char: str) -> bool:
    # Unicode 3.2 is the one version that every Python carries, so all workers cut alike; later marks are few and rare.
    return (
        unicodedata.ucd_3_2_0.category(char) in _MARKS
        or "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _is_regional_indicator(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
