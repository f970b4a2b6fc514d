"""The plan of a run's faults, drawn from its seed: what strikes which slot when."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

FaultKind = Literal["sigkill", "sigterm", "sigstop", "broker"]

WARM_S = 3.0
"""Before the first fault, so that every gateway has seen every channel."""

FREEZE_S = 7.0
"""Longer than a group's session and than the silence after which a claim is declared lost."""

LONG_FREEZE_S = 15.0
OFTEN = 5
"""A SIGTERM and a SIGSTOP for so many kills."""

BROKER_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, `at_s` seconds after the start. `slot`: whom it strikes, "" for the broker. `for_s`: of a SIGSTOP."""

    at_s: float
    kind: FaultKind
    slot: str = ""
    for_s: float = 0.0


def draw_plan(seed: int, *, seconds: float, kills: int, slots: Sequence[str], broker: bool) -> tuple[Fault, ...]:
    """The faults of a seed in the order of their times: `kills` SIGKILLs, and the others in proportion.

    Each slot is killed about as often as any other. `broker`: whether the broker may be killed, too.
    """
    dice = Random(f"chaos {seed}")
    others = math.ceil(kills / OFTEN)
    faults = [
        *(Fault(at, "sigkill", slot) for at, slot in _spread(dice, kills, seconds, slots)),
        *(Fault(at, "sigterm", slot) for at, slot in _spread(dice, others, seconds, slots)),
        *(Fault(at, "sigstop", slot, _freeze(dice)) for at, slot in _spread(dice, others, seconds, slots)),
    ]
    if broker and kills:
        times = max(1, round(seconds / BROKER_EVERY_S))
        faults += [Fault(at, "broker") for at, _ in _spread(dice, times, seconds, slots)]
    return tuple(sorted(faults, key=lambda fault: fault.at_s))


def _spread(dice: Random, count: int, seconds: float, slots: Sequence[str]) -> list[tuple[float, str]]:
    """So many (time, slot), one in each of as many equal parts of the time; all slots come once before any comes again."""
    chosen: list[str] = []
    while len(chosen) < count:
        chosen += dice.sample(slots, len(slots))
    part = (seconds - WARM_S) / max(count, 1)
    return [(WARM_S + (number + dice.random()) * part, slot) for number, slot in enumerate(chosen[:count])]


def _freeze(dice: Random) -> float:
    return LONG_FREEZE_S if dice.random() < 0.25 else FREEZE_S
