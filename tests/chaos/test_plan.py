"""The plan of faults: the seed decides it, and nobody is spared."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.chaos.plan import Fault, draw_plan

SLOTS = [f"{kind}-{number}" for kind in ("gateway", "context", "provider") for number in range(2)]


def kinds(plan: tuple[Fault, ...]) -> Counter[str]:
    return Counter(fault.kind for fault in plan)


def test_a_seed_gives_the_same_plan_again_and_another_seed_another() -> None:
    first, again, other = (draw_plan(seed, seconds=60, kills=10, slots=SLOTS, broker=True) for seed in (1, 1, 2))
    assert first == again != other


@given(seed=st.integers(0, 2**32), seconds=st.floats(10, 600), kills=st.integers(0, 60), broker=st.booleans())
def test_a_plan_has_the_kills_that_were_asked_for_within_its_time(
    seed: int, seconds: float, kills: int, broker: bool
) -> None:
    plan = draw_plan(seed, seconds=seconds, kills=kills, slots=SLOTS, broker=broker)
    assert kinds(plan)["sigkill"] == kills
    assert all(0 < fault.at_s <= seconds for fault in plan)
    assert list(plan) == sorted(plan, key=lambda fault: fault.at_s)
    assert (kinds(plan)["broker"] > 0) == (broker and kills > 0)
    assert all((fault.slot in SLOTS) == (fault.kind != "broker") for fault in plan)


def test_each_slot_is_killed_about_as_often_as_any_other() -> None:
    plan = draw_plan(3, seconds=180, kills=20, slots=SLOTS, broker=False)
    killed = Counter(fault.slot for fault in plan if fault.kind == "sigkill")
    assert set(killed.values()) == {3, 4}
    assert kinds(plan)["sigterm"] == kinds(plan)["sigstop"] == 4
