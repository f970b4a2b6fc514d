"""What the command line asked for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wishes:
    """`processes`: of each kind. `turns`: at once; None leaves it to the scenario, as with `away_s`, an outage's length."""

    scenario: str
    seconds: float
    kills: int
    seed: int
    kafka: str | None
    restart: bool
    processes: int
    partitions: int
    turns: int | None
    away_s: float | None = None
