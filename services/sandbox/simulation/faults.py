"""What goes wrong in a run, and when: a plan drawn from the seed before the run begins."""

from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from services.sandbox.simulation.workers import KINDS

FaultName = Literal[
    "kill", "sigterm", "sigstop", "evict", "ack-lost", "broker-away", "skew", "discord-away", "code-change"
]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)
LASTING: tuple[FaultName, ...] = ("ack-lost", "skew", "code-change")
"""Faults that are no single blow: they last for the run, or have a plan of their own."""

ACTIVE_S = 40.0
"""Faults begin within these seconds; messages come within them too."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One fault: `slot` is the process that it hits, `seconds` how long it lasts."""

    at: float
    fault: FaultName
    slot: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CodeChange:
    """A deployment: from `at` on each process is replaced, `each_s` apart; then the stamp is raised."""

    at: float
    each_s: float
    by: Literal["kill", "sigterm"]


@dataclass(frozen=True, slots=True)
class Plan:
    """All faults of a run. `skew_ms` is each slot's clock; `restarts` says whether killed processes come back soon."""

    faults: tuple[Planned, ...]
    skew_ms: dict[str, int]
    processes: dict[str, int]
    restarts: bool
    change: "CodeChange | None"
    lost_acks: float
    lost_answers: float
    provider_trouble: float

    def slots(self) -> list[str]:
        """The names of all processes."""
        return [f"{kind}-{number}" for kind in KINDS for number in range(self.processes[kind])]


def draw_plan(dice: Random, allowed: frozenset[FaultName]) -> Plan:
    """A plan of the allowed faults."""
    restarts = dice.random() < 0.8
    processes = {kind: 1 if kind == "gateway" else dice.choice((1, 2, 2)) for kind in KINDS}
    if not restarts:
        processes = {kind: 1 if kind == "gateway" else 2 for kind in KINDS}
    slots = [f"{kind}-{number}" for kind in KINDS for number in range(processes[kind])]
    timed: list[FaultName] = [f for f in FAULTS if f in allowed and f not in LASTING]
    faults: list[Planned] = []
    if timed:
        count = dice.choice((0, 1, 2, 4, 8, 12))
        faults += [_one(dice, dice.choice(timed), slots) for _ in range(count)]
    skewed = "skew" in allowed and dice.random() < 0.5
    return Plan(
        faults=tuple(sorted(faults, key=lambda planned: planned.at)),
        skew_ms={slot: dice.choice((0, -60_000, 60_000)) if skewed else 0 for slot in slots},
        processes=processes,
        restarts=restarts,
        change=_deployment(dice) if "code-change" in allowed and dice.random() < 0.4 else None,
        lost_acks=dice.choice((0.0, 0.01, 0.05)) if "ack-lost" in allowed else 0.0,
        lost_answers=dice.choice((0.0, 0.1)) if "discord-away" in allowed else 0.0,
        provider_trouble=dice.choice((0.0, 0.0, 0.3)) * dice.choice((1.0, 2.5)),
    )


def _deployment(dice: Random) -> CodeChange:
    return CodeChange(dice.uniform(2.0, ACTIVE_S * 0.6), dice.uniform(0.2, 2.0), dice.choice(("kill", "sigterm")))


def _one(dice: Random, fault: FaultName, slots: list[str]) -> Planned:
    at = dice.uniform(0.5, ACTIVE_S)
    match fault:
        case "kill" | "sigterm" | "evict":
            return Planned(at, fault, dice.choice(slots))
        case "sigstop":
            return Planned(at, fault, dice.choice(slots), dice.choice((2.0, 7.0, 7.0, 60.0)))
        case "broker-away":
            return Planned(at, fault, seconds=dice.choice((1.0, 10.0, 50.0)))
        case "discord-away":
            return Planned(at, fault, seconds=dice.choice((1.0, 10.0, 90.0, 360.0)))
        case "ack-lost" | "skew" | "code-change":
            raise ValueError(f"{fault} is no single blow")
