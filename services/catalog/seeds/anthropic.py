"""Anthropic's models. Each demands alternating roles.

Limits: https://platform.claude.com/docs/en/about-claude/models/overview.
"""

from functools import partial

from services.catalog.seeds.model import ModelSeed

_claude = partial(
    ModelSeed, has_tools=True, sees_images=True, supports_structured_output=True, strict_role_alternation=True
)

MODELS = (
    _claude("claude-haiku-4-5", "The fastest Claude", context_window=200_000, max_output_tokens=64_000),
    _claude(
        "claude-sonnet-4-6",
        "Fast and able",
        is_default=True,
        context_window=1_000_000,
        max_output_tokens=128_000,
    ),
    _claude(
        "claude-opus-4-6",
        "Thorough",
        is_smartest=True,
        is_reasoning=True,
        context_window=1_000_000,
        max_output_tokens=128_000,
    ),
    _claude(
        "claude-opus-4-7",
        "The most able Claude of the list",
        is_smartest=True,
        is_reasoning=True,
        context_window=1_000_000,
        max_output_tokens=128_000,
    ),
)
