"""Which key and model an attempt takes, by the orchestrator's plan; only here is it known which there are."""

from collections.abc import Sequence
from typing import assert_never

from schemas.attempts import AttemptPlan, Chosen


def choose(plan: AttemptPlan | None, candidates: Sequence[Chosen]) -> Chosen | None:
    """The candidate that the plan asks for, None where none is left.

    `candidates` stand in the order of preference: the chain of models, each with its usable keys together. No key is tried
    again for a model for which it failed in this turn, unless the plan says so.
    """
    if plan is None:
        return next(iter(candidates), None)
    tried = [earlier.chosen for earlier in plan.earlier if earlier.chosen is not None]
    match plan.step:
        case "first":
            return next(iter(candidates), None)
        case "same":
            before = tried[-1] if tried else None
            return before if before in candidates else _another(tried, candidates, same_model=True)
        case "key":
            return _another(tried, candidates, same_model=True)
        case "model":
            return _another(tried, candidates, same_model=False)
        case _:
            assert_never(plan.step)


def _another(tried: Sequence[Chosen], candidates: Sequence[Chosen], *, same_model: bool) -> Chosen | None:
    if same_model and tried:
        last = _model(tried[-1])
        for one in candidates:
            if _model(one) == last and one not in tried:
                return one
    models = {_model(one) for one in tried}
    return next((one for one in candidates if _model(one) not in models), None)


def _model(chosen: Chosen) -> tuple[str, str, str]:
    # The server's route to a model counts apart from the user's own: it has other keys, and another account.
    return (chosen.provider, chosen.model, chosen.source)
