"""Bugs that are put into the runtime on purpose, one a rule of the design, and the search for a seed that shows each."""

import contextlib
import gc
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.runtime import claims, control, inbound, membership, snapshots
from services.sandbox.simulation import campaign
from services.sandbox.simulation.faults import FAULTS, FaultName
from services.sandbox.simulation.hosts import CURRENT

ALL: frozenset[FaultName] = frozenset(FAULTS)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """What dead hosts leave behind is collected here, and nobody hears of it; later it would hit somebody else's code."""
    campaign.quiet()
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    yield
    gc.collect()


@dataclass(frozen=True)
class Bug:
    """A rule that is broken. `plant` patches it in; `faults` are those under which it can show.

    `shown_by`: the seed from which the search begins, to save time; any of the 500 counts.
    """

    name: str
    plant: Callable[[pytest.MonkeyPatch], None]
    shown_by: int = 0
    faults: frozenset[FaultName] = field(default=ALL)


def _ack_before_output(patch: pytest.MonkeyPatch) -> None:
    def emit(self: Any, new: Any) -> Any:
        return self._sender.send(new)

    patch.setattr(inbound.Inbound, "emit", emit)


def _commit_before_snapshot(patch: pytest.MonkeyPatch) -> None:
    def hold(self: Any) -> Any:
        return inbound.Pending(lambda: None)

    patch.setattr(inbound.Inbound, "hold", hold)


def _act_without_claim(patch: pytest.MonkeyPatch) -> None:
    async def claim(self: Any, effect: str, channel: str) -> Any:
        return claims.Won()

    patch.setattr(claims.Claims, "claim", claim)


def _kept_after_eviction(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "kept_partitions", lambda before, now, had, has: had & has)


def _stop_by_local_clock(patch: pytest.MonkeyPatch) -> None:
    def selects(target: Any, *, turn: str, caused_by: str) -> bool:
        host = CURRENT.get()
        skew_ms = 0 if host is None else host.skew_ms
        before = getattr(target, "before", None)
        return target.turn == turn if before is None else (int(caused_by) >> 22) + skew_ms < int(before) >> 22

    patch.setattr(control, "selects", selects)


def _last_snapshot(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(snapshots, "better", lambda known, snapshot: True)


def _retry_beside_a_live_stream(patch: pytest.MonkeyPatch) -> None:
    async def outcome(self: Any, effect: str, channel: str) -> Any:
        return "lost"

    patch.setattr(claims.Claims, "outcome", outcome)


BUGS = [
    Bug("ack before output", _ack_before_output, 140),
    Bug("commit before snapshot", _commit_before_snapshot),
    Bug("act without claim", _act_without_claim),
    Bug("kept after eviction", _kept_after_eviction),
    Bug("stop by local clock", _stop_by_local_clock, 53, frozenset({"skew"})),
    Bug("last snapshot instead of highest", _last_snapshot, 96, frozenset({"sigstop"})),
    Bug("a retry beside a live stream", _retry_beside_a_live_stream, 53),
]


@contextlib.contextmanager
def planted(bug: Bug) -> Generator[None]:
    """The bug, while this is open."""
    with pytest.MonkeyPatch.context() as patch:
        bug.plant(patch)
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a bug."""
    if "bug" in metafunc.fixturenames:
        metafunc.parametrize("bug", BUGS, ids=[bug.name.replace(" ", "-") for bug in BUGS])


@pytest.fixture
def plant_and_search() -> Callable[[Bug], tuple[int, list[int]]]:
    """Plant a bug and play the 500 seeds from 0 to 499, those first that showed it last time, up to the first that does."""

    def search(bug: Bug) -> tuple[int, list[int]]:
        with planted(bug):
            for seed in (*range(bug.shown_by, 500), *range(bug.shown_by)):
                result, _ = campaign.play(seed, bug.faults)
                if not result.clean:
                    return seed, sorted({violation.invariant for violation in result.violations})
        return -1, []

    return search
