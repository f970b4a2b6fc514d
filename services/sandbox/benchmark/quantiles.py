"""Quantiles of measured times, as they are reported: in milliseconds, with how many there were."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Milliseconds; None where nothing was measured."""

    count: int
    p50: float | None
    p99: float | None
    most: float | None


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` of the values do not exceed; of one or more values, in any order."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, -int(-part * len(ranked) // 1) - 1))]


def in_ms(seconds: Sequence[float]) -> Quantiles:
    """The quantiles of times in seconds."""
    if not seconds:
        return Quantiles(0, None, None, None)
    return Quantiles(
        len(seconds),
        *(round(value * 1000, 2) for value in (quantile(seconds, 0.5), quantile(seconds, 0.99), max(seconds))),
    )
