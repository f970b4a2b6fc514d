"""The simulated world: the same seed is the same run, clean seeds break no invariant, and planted bugs are found."""

import hashlib

import pytest

from schemas.attempts import NO_ATTEMPT_LEFT, AttemptPlan
from schemas.generations import GenerationRequested
from schemas.inbox import GenerationFailed
from services.sandbox.checking.index import Index
from services.sandbox.simulation.campaign import play
from services.sandbox.simulation.faults import FAULTS, FaultName
from services.sandbox.simulation.world import World

ALL: frozenset[FaultName] = frozenset(FAULTS)


def digest(seed: int) -> str:
    history = World(seed, ALL).run()
    whole = hashlib.sha256()
    for write in history.writes:
        whole.update(repr((write.at, write.record)).encode())
    return whole.hexdigest()


@pytest.mark.parametrize("seed", [4, 33])
def test_a_seed_always_gives_the_same_run(seed: int) -> None:
    assert digest(seed) == digest(seed)


def test_without_faults_every_message_is_answered_in_one_call() -> None:
    for seed in range(5):
        result, history = play(seed, frozenset())
        assert result.clean
        assert history is not None
        assert history.at_rest
        calls = {(call.turn, call.generation) for call in history.calls}
        assert len(calls) == len(history.calls) > 0


def test_worlds_show_all_that_may_follow_a_failed_call() -> None:
    plans: list[AttemptPlan] = []
    failures: set[str] = set()
    for seed in range(4):
        result, history = play(seed, frozenset())
        assert result.clean
        assert history is not None
        for turn in Index(history).turns.values():
            requests = [read.content for read in turn.requests.values()]
            plans += [
                one.attempt for one in requests if isinstance(one, GenerationRequested) and one.attempt is not None
            ]
            failed = [read.content for reads in turn.failures.values() for read in reads]
            failures |= {one.error.code for one in failed if isinstance(one, GenerationFailed)}
    assert {plan.step for plan in plans} == {"first", "same", "key", "model"}
    assert {plan.paused_ms for plan in plans} == {0, 1_000, 2_000}
    assert {("temperature",), ("stream_options",)} <= {plan.rung.without for plan in plans}
    assert {earlier.outcome for plan in plans for earlier in plan.earlier} >= {"error", "empty"}
    assert failures == {"configuration", NO_ATTEMPT_LEFT}


def test_a_killed_process_never_runs_its_clean_up() -> None:
    world = World(11, ALL)
    history = world.run()
    killed = [at for at, what in world.stage.events if what.endswith("is killed")]
    assert killed
    assert history.at_rest


def test_a_bug_that_is_planted_is_found(bug, plant_and_search) -> None:
    _, invariants = plant_and_search(bug)
    assert invariants, f"{bug.name} was found in none of 500 seeds"
