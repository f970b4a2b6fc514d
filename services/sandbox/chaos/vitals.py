"""What a process takes and holds, sampled from outside while it lives, and whether that stays level."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import aiohttp
import psutil
from prometheus_client.parser import text_string_to_metric_families

CLAIMS = "odradek_claims_open"
UNFINISHED = "odradek_records_unfinished"
MOST_GROWTH = 1.05
MORE_DESCRIPTORS = 2


@dataclass(frozen=True, slots=True)
class Vitals:
    """One sample. `rss_mb`: resident memory in MiB. `claims`: effects that the process knows to be open, 0 where it
    follows none. `unfinished`: records read and not finished, which is what holds the prefix back."""

    at: float
    rss_mb: float
    descriptors: int
    claims: int | None
    unfinished: int | None


@dataclass(frozen=True, slots=True)
class Level:
    """All samples of one process: medians of the second and the last third, most, and what was held at the end."""

    samples: int
    rss_mb: tuple[float, float]
    rss_growth: float
    descriptors: tuple[float, float]
    descriptors_most: int
    claims_most: int | None
    unfinished_most: int | None
    claims_at_end: int | None
    unfinished_at_end: int | None

    @property
    def failures(self) -> tuple[str, ...]:
        """What is not as it should be; memory that goes down is no failure."""
        found: list[str] = []
        before, after = self.rss_mb
        if after > before * MOST_GROWTH:
            found.append(f"its memory grew by {self.rss_growth:.1%} from the second to the last third")
        if self.descriptors[1] > self.descriptors[0] + MORE_DESCRIPTORS:
            found.append(f"its descriptors grew from {self.descriptors[0]:g} to {self.descriptors[1]:g}")
        if self.claims_at_end:
            found.append(f"{self.claims_at_end} claims are open at the end")
        if self.unfinished_at_end:
            found.append(f"{self.unfinished_at_end} records are unfinished at the end")
        return tuple(found)


def level(samples: Sequence[Vitals], end: Vitals) -> Level | None:
    """Judge the samples of a process; None where there are too few. `end` was taken when nothing went on any more."""
    if len(samples) < 3:
        return None
    third = len(samples) // 3
    second, last = samples[third : 2 * third], samples[-third:]
    rss = (median(one.rss_mb for one in second), median(one.rss_mb for one in last))
    return Level(
        samples=len(samples),
        rss_mb=(round(rss[0], 1), round(rss[1], 1)),
        rss_growth=round(rss[1] / rss[0] - 1, 4),
        descriptors=(median(one.descriptors for one in second), median(one.descriptors for one in last)),
        descriptors_most=max(one.descriptors for one in samples),
        claims_most=max((one.claims for one in samples if one.claims is not None), default=None),
        unfinished_most=max((one.unfinished for one in samples if one.unfinished is not None), default=None),
        claims_at_end=end.claims,
        unfinished_at_end=end.unfinished,
    )


async def sample(pid: int, port: int, at: float) -> Vitals | None:
    """One process now; None where it is gone or does not answer in time."""
    try:
        gauges = await _gauges(f"http://127.0.0.1:{port}/metrics")
        process = psutil.Process(pid)
        with process.oneshot():
            return Vitals(
                at=at,
                rss_mb=process.memory_info().rss / 2**20,
                descriptors=process.num_fds(),
                claims=gauges.get(CLAIMS),
                unfinished=gauges.get(UNFINISHED),
            )
    except (aiohttp.ClientError, TimeoutError, OSError, psutil.Error):
        return None


async def _gauges(url: str) -> dict[str, int]:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=4)) as session,
        session.get(url) as response,
    ):
        text = await response.text()
    return {
        family.name: int(family.samples[0].value)
        for family in text_string_to_metric_families(text)
        if family.name in (CLAIMS, UNFINISHED) and family.samples
    }
