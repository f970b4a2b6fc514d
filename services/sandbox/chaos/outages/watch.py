"""What the processes are asked every second: are they ready, do they live, how much memory do they hold."""

import asyncio
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import aiohttp
import psutil

from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.slots import Slot, Slots

EVERY_S = 1.0
_ANSWER_S = 2.0
_FOUND = re.compile(r"^odradek_delivery_found_total (\S+)$", re.MULTILINE)
_NUMBERS = re.compile(r"(?<=[a-z])/\d+( and \d+ more)?| for \d+ s$")
"""What differs from look to look in the words of a ready check: a partition, a length of time."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at one process. `missing`: what /readyz says is missing, None where it is ready."""

    process: str
    at: float
    lives: bool
    missing: str | None
    rss: int


@dataclass(slots=True)
class Watch:
    """All looks at all processes."""

    slots: Slots
    clock: RunClock
    samples: list[Sample] = field(default_factory=list[Sample])

    async def run(self) -> None:
        """Look every second until cancelled."""
        timeout = aiohttp.ClientTimeout(total=_ANSWER_S)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                looked = await asyncio.gather(*(self._look(session, slot) for slot in self.slots.slots.values()))
                self.samples += [sample for sample in looked if sample is not None]
                await asyncio.sleep(EVERY_S)

    async def _look(self, session: aiohttp.ClientSession, slot: Slot) -> Sample | None:
        process, at = slot.process, self.clock.now()
        if process is None:
            return None
        try:
            rss = int(psutil.Process(process.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            return None
        at_port = f"http://127.0.0.1:{slot.port}"
        lives = (await _get(session, f"{at_port}/livez"))[0] == 200
        status, text = await _get(session, f"{at_port}/readyz")
        return Sample(slot.name, at, lives, None if status == 200 else text.strip() or "no answer", rss)

    def between(self, start: float, end: float) -> list[Sample]:
        """The looks of a span of time."""
        return [sample for sample in self.samples if start <= sample.at < end]


async def count_found(slots: Slots) -> int:
    """How many old texts the delivery processes of now found in their channels, instead of sending them again."""
    found = 0.0
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_ANSWER_S)) as session:
        for slot in slots.slots.values():
            if slot.kind == "delivery":
                _, text = await _get(session, f"http://127.0.0.1:{slot.port}/metrics")
                found += sum(float(value) for value in _FOUND.findall(text))
    return int(found)


async def _get(session: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    try:
        async with session.get(url) as response:
            return response.status, await response.text()
    except (aiohttp.ClientError, TimeoutError, OSError):
        return 0, ""


@dataclass(frozen=True, slots=True)
class Health:
    """What the health ports said during an outage.

    `told_after_s`: of each kind, how long after the outage's start all its processes said that they are not ready, None
    where one never did; `ready_after_s`: how long after its end all processes were ready again, None likewise.
    `dead_looks`: looks at which /livez did not answer 200.
    """

    told_after_s: dict[str, float | None]
    reasons: dict[str, int]
    ready_after_s: float | None
    dead_looks: int


def health(watch: Watch, kinds: dict[str, str], start: float, end: float) -> Health:
    """`kinds`: of each process its kind."""
    during = watch.between(start, end)
    first: dict[str, float] = {}
    for sample in during:
        if sample.missing is not None:
            first.setdefault(sample.process, sample.at - start)
    told: dict[str, float | None] = {}
    for process, kind in kinds.items():
        before, now = told.get(kind, 0.0), first.get(process)
        told[kind] = None if now is None or before is None else round(max(before, now), 1)
    reasons = Counter(
        f"{kinds[sample.process]}: {_NUMBERS.sub('', line)}"
        for sample in during
        if sample.missing
        for line in sample.missing.split("\n")
    )
    unready = [sample.at for sample in watch.samples if sample.at >= end and sample.missing is not None]
    after = [sample.at for sample in watch.samples if sample.at > max(unready, default=end)]
    return Health(
        told_after_s=told,
        reasons=dict(reasons.most_common(12)),
        ready_after_s=round(min(after) - end, 1) if after else None,
        dead_looks=sum(not sample.lives for sample in during),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory in MiB: of the process that grew most, before the outage and at its peak until the run's end."""

    process: str
    before: float
    peak: float


def memory(watch: Watch, start: float) -> Memory:
    """The growth of each process over what it held when the outage began."""
    before: dict[str, int] = {}
    peaks: defaultdict[str, int] = defaultdict(int)
    for sample in watch.samples:
        if sample.at < start:
            before[sample.process] = sample.rss
        else:
            peaks[sample.process] = max(peaks[sample.process], sample.rss)
    worst = max(before, key=lambda process: peaks[process] - before[process], default="-")
    mib = 1024 * 1024
    return Memory(worst, round(before.get(worst, 0) / mib, 1), round(peaks[worst] / mib, 1))
