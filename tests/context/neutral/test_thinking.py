"""Thinking: the level that a turn asks for, and what it is worth in tokens."""

import pytest

from schemas.context import GenerationOptions, ThinkingLevel
from services.context.neutral.thinking import effort, thinking_budget, thinking_level


@pytest.mark.parametrize(
    ("level", "forced"),
    [("auto", "high"), ("none", "high"), ("low", "low"), ("medium", "medium"), ("high", "high")],
)
def test_a_turn_that_must_reason_raises_only_auto_and_none(level: ThinkingLevel, forced: ThinkingLevel) -> None:
    assert thinking_level(GenerationOptions(thinking_level=level)) == level
    assert thinking_level(GenerationOptions(thinking_level=level, force_reasoning=True)) == forced
    assert effort(level) == (None if level in ("auto", "none") else level)


def test_budgets_stay_between_what_a_model_demands_and_what_a_reply_may_take() -> None:
    assert [thinking_budget(effort) for effort in ("low", "medium", "high")] == [1024, 4096, 8192]
    assert thinking_budget("low", least=2048) == 2048
    assert thinking_budget("high", reply=4096) == 4095
    assert thinking_budget("low", least=512, reply=100) == 512
