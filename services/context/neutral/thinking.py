"""How much a model should think, before any provider's words for it."""

from collections.abc import Mapping
from typing import Literal, assert_never

from schemas.context import GenerationOptions, ThinkingLevel

Effort = Literal["low", "medium", "high"]

BUDGETS: Mapping[Effort, int] = {"low": 1024, "medium": 4096, "high": 8192}
"""Tokens of thinking, for providers that want a number."""


def thinking_level(options: GenerationOptions) -> ThinkingLevel:
    """The level to ask for; a turn that must reason raises auto and none to high."""
    if options.force_reasoning and options.thinking_level in ("auto", "none"):
        return "high"
    return options.thinking_level


def effort(level: ThinkingLevel) -> Effort | None:
    """The effort that a level names; None: it leaves thinking to the provider, or wants none."""
    match level:
        case "auto" | "none":
            return None
        case "low" | "medium" | "high":
            return level
        case _:
            assert_never(level)


def thinking_budget(asked: Effort, *, least: int = 1, reply: int | None = None) -> int:
    """Tokens of thinking for an effort: at least `least`, which a model demands.

    `reply`: the request's limit of output, of which thinking takes a part; the budget stays below it where it can.
    """
    budget = BUDGETS[asked] if reply is None else min(BUDGETS[asked], reply - 1)
    return max(budget, least)
