"""A campaign: many seeds over several processes, each world checked, with what was found as it comes."""

import logging
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from services.sandbox.brokers.orphans import dying_with_parent
from services.sandbox.checking.checks import check
from services.sandbox.checking.history import History, Violation
from services.sandbox.simulation.faults import FaultName
from services.sandbox.simulation.world import World

BATCH = 10
SEEDS_A_PROCESS = 40
"""Batches after which a process is replaced: what dead hosts leave behind goes with it."""


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one seed showed. `defect` is the traceback of an error that no invariant foresees."""

    seed: int
    violations: tuple[Violation, ...]
    records: int
    virtual_s: float
    defect: str = ""

    @property
    def clean(self) -> bool:
        """Nothing was found."""
        return not self.violations and not self.defect


def play(seed: int, faults: frozenset[FaultName]) -> tuple[SeedResult, History | None]:
    """Run one seed and check it; the history is None where the run itself failed."""
    world = World(seed, faults)
    try:
        history = world.run()
        found = check(history).violations
    except Exception:
        return SeedResult(seed, (), 0, world.virtual_s, traceback.format_exc()), None
    return SeedResult(seed, tuple(found), len(history.writes), world.virtual_s), history


def run_campaign(seeds: range, faults: frozenset[FaultName], *, processes: int | None = None) -> Iterator[SeedResult]:
    """Play all seeds; results come as they are ready, not in order."""
    count = processes or os.cpu_count() or 1
    batches = iter([seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)])
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, _begin, max_tasks_per_child=SEEDS_A_PROCESS) as pool:
        waiting: set[Future[list[SeedResult]]] = {
            pool.submit(_play_all, batch, faults) for batch in islice(batches, 2 * count)
        }
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
                following = next(batches, None)
                if following is not None:
                    waiting.add(pool.submit(_play_all, following, faults))


def _play_all(seeds: range, faults: frozenset[FaultName]) -> list[SeedResult]:
    return [play(seed, faults)[0] for seed in seeds]


def _begin() -> None:
    """A process of the pool: it ends with the campaign, logs nothing of the worlds' workers and of what dead hosts leave."""
    # A pool whose owner was killed waits for ever: each process holds the pipe of the others open.
    if (ask := dying_with_parent(signal.SIGKILL)) is not None:
        ask()
    quiet()
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None


def quiet() -> None:
    """Log nothing below critical."""
    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.getLogger().setLevel(logging.CRITICAL)
