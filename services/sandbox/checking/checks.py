"""The table of all invariants that a history can tell, and the one function that holds a history against them.

Invariants 16 (tools that are not idempotent) and 18 (fairness between channels) are not in it: there are no tool calls
yet, and fairness is a matter of timing runs, whose histories have a run without the blocked channel to compare with.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from services.sandbox.checking import invariants_calls as calls
from services.sandbox.checking import invariants_commits as commits
from services.sandbox.checking import invariants_fold as folds
from services.sandbox.checking import invariants_log as logs
from services.sandbox.checking import invariants_stops as stops
from services.sandbox.checking import invariants_streams as streams
from services.sandbox.checking import invariants_turns as turns
from services.sandbox.checking.findings import Found
from services.sandbox.checking.history import History, Violation
from services.sandbox.checking.index import Index

Check = Callable[[Index], Found]

INVARIANTS: dict[int, tuple[str, Check]] = {
    1: ("each message has one result", turns.one_result_a_message),
    2: ("what is shown is what was decided", turns.shown_as_decided),
    3: ("one claimed call a generation", calls.one_claimed_call),
    4: ("a generation follows a logged end", calls.next_after_logged_end),
    5: ("batches come from counted records", streams.batches_of_counted_records),
    6: ("copies are equal", logs.copies_are_equal),
    7: ("folding again agrees", folds.folding_again_agrees),
    8: ("settled outputs are written", folds.settled_outputs_are_written),
    9: ("commits pass finished records only", commits.commits_pass_finished_only),
    10: ("loaded snapshots never go back", commits.loads_never_go_back),
    11: ("stops end what they select", stops.stops_end_what_they_select),
    12: ("stops close calls at once", stops.stops_close_at_once),
    13: ("stale events change nothing", folds.stale_events_change_nothing),
    14: ("nothing stays open", commits.nothing_stays_open),
    15: ("timers take effect once and in time", folds.timers_take_effect_once),
    17: ("poison is put aside", logs.poison_is_put_aside),
    19: ("no gaps, and the provider's bytes", streams.no_gaps),
    20: ("kept partitions had no other owner", commits.kept_partitions_had_no_other_owner),
}
"""Each invariant's number in the list, with its title and its check."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, in the order of the invariants; `skipped` names those that the history cannot tell, and why."""

    violations: tuple[Violation, ...]
    skipped: tuple[tuple[int, str], ...]


def check(history: History, only: Collection[int] | None = None) -> Checked:
    """Hold a history against all invariants, or against `only` some. Raises KeyError for a number without a check."""
    unknown = set(only or ()) - INVARIANTS.keys()
    if unknown:
        raise KeyError(f"no checks for the invariants {sorted(unknown)}; there are {sorted(INVARIANTS)}")
    index = Index(history)
    violations: list[Violation] = []
    skipped: list[tuple[int, str]] = []
    for number, (_, run) in INVARIANTS.items():
        if only is not None and number not in only:
            continue
        missing = _missing(history, number)
        if missing is not None:
            skipped.append((number, missing))
        else:
            violations.extend(run(index))
    return Checked(tuple(violations), tuple(skipped))


def _missing(history: History, number: int) -> str | None:
    match number:
        case 9 if history.commits is None:
            return "the run observed no commits"
        case 10 if history.loads is None:
            return "the run observed no loaded snapshots"
        case 20 if history.owners is None or history.kept is None:
            return "the run observed no owners or no kept partitions"
        case _:
            return None
