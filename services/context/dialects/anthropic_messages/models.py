"""What differs between Claude models: thinking, sampling, prefills. A table by family and version.

https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and the migration guides of each model:
https://platform.claude.com/docs/en/about-claude/models/migration-guide
"""

import re
from dataclasses import dataclass
from typing import Literal

_NAME = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-(?:(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)|preview)")
_Version = tuple[int, int]
_ADAPTIVE: _Version = (4, 6)
_WITHOUT_SAMPLING: _Version = (4, 7)
_ALWAYS_THINKING_OPUS: _Version = (5, 5)


@dataclass(frozen=True, slots=True)
class Habits:
    """`thinking`: unasked (no field for it), by choice (it can be turned off), or always.

    `sampling`: whether the model takes any when it does not think. `prefill`: whether a reply may be begun for it.
    `hides_thinking`: its thoughts are empty unless their summary is asked for.
    """

    thinking: Literal["unasked", "by choice", "always"]
    sampling: bool
    prefill: bool
    hides_thinking: bool


OLDER = Habits("unasked", sampling=True, prefill=True, hides_thinking=False)
"""Claude up to 4.5, and whatever else speaks the dialect."""


def habits(codename: str) -> Habits:
    """The model's habits. A version that is newer than this table is taken for its family's newest."""
    found = _NAME.search(codename)
    if found is None:
        return OLDER
    family, major, minor = found.groups()
    always = family in ("fable", "mythos")
    version: _Version = (int(major), int(minor or 0)) if major else _WITHOUT_SAMPLING
    if version < _ADAPTIVE and not always:
        return OLDER
    always = always or (family == "opus" and version >= _ALWAYS_THINKING_OPUS)
    newer = always or version >= _WITHOUT_SAMPLING
    return Habits("always" if always else "by choice", sampling=not newer, prefill=False, hides_thinking=newer)
