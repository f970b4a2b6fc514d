"""What differs between Google's models: system text, thinking, penalties, signatures. Told by family and version."""

import re
from dataclasses import dataclass
from typing import Literal

_GEMINI = re.compile(r"(?:^|/)gemini-(\d+)(?:\.(\d+))?-(pro|flash-lite|flash)?")
_GEMMA = re.compile(r"(?:^|/)gemma(?:-(\d+))?")
_FIRST_GEMMA_WITH_SYSTEM = 4


@dataclass(frozen=True, slots=True)
class Habits:
    """`generation` is Gemini's major version, None for other models.

    `takes_system`: there is a place for system text. `thinking`: how much is said, as tokens or as a level; None: nothing.
    `least_budget` is the fewest tokens of thinking that the model takes, `least_level` its least level.
    """

    generation: int | None = None
    takes_system: bool = True
    thinking: Literal["budget", "level"] | None = None
    can_be_off: bool = False
    least_budget: int = 1
    least_level: Literal["MINIMAL", "LOW"] = "LOW"

    @property
    def takes_penalties(self) -> bool:
        """Whether frequency and presence penalties are known."""
        return self._is_newer

    @property
    def wants_signatures(self) -> bool:
        """Whether a call without a thought signature is refused."""
        return self._is_newer

    @property
    def _is_newer(self) -> bool:
        return self.generation is not None and self.generation >= 3


def habits(codename: str) -> Habits:
    """The model's habits. A Gemini that is newer than this table is taken for the newest in it."""
    gemma = _GEMMA.search(codename)
    if gemma is not None:
        return Habits(takes_system=int(gemma[1] or 0) >= _FIRST_GEMMA_WITH_SYSTEM)
    gemini = _GEMINI.search(codename)
    if gemini is None:
        return Habits()
    major, minor, tier = int(gemini[1]), int(gemini[2] or 0), gemini[3]
    if (major, minor) < (2, 5):
        return Habits(major)
    if major == 2:
        # https://ai.google.dev/gemini-api/docs/thinking (thinking budgets): Pro cannot be told not to think.
        least = {"pro": 128, "flash-lite": 512}.get(tier, 1)
        return Habits(major, thinking="budget", can_be_off=tier != "pro", least_budget=least)
    # https://ai.google.dev/gemini-api/docs/thinking (thinking levels)
    return Habits(major, thinking="level", least_level="LOW" if tier == "pro" else "MINIMAL")
