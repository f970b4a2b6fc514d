"""How a Google model is to generate: sampling, thinking, stops, and what it may talk about."""

from collections.abc import Mapping
from typing import assert_never

from schemas.context import GenerationOptions, SamplingParameter
from services.context.dialects.google.models import Habits
from services.context.dialects.shown import Notes
from services.context.neutral.sampling import Sampling
from services.context.neutral.thinking import effort, thinking_budget, thinking_level
from services.context.rendered import NativeValue

SAFETY_SETTINGS: tuple[Mapping[str, str], ...] = tuple(
    {"category": category, "threshold": "BLOCK_NONE"}
    for category in (
        "HARM_CATEGORY_HARASSMENT",
        "HARM_CATEGORY_HATE_SPEECH",
        "HARM_CATEGORY_SEXUALLY_EXPLICIT",
        "HARM_CATEGORY_DANGEROUS_CONTENT",
    )
)
"""What a server's members may read is decided by Discord's own settings; https://ai.google.dev/gemini-api/docs/safety-settings."""

_NAMES: Mapping[SamplingParameter, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
_PENALTIES: frozenset[SamplingParameter] = frozenset({"frequency_penalty", "presence_penalty"})
_LEVEL = "options.thinking_level"
_ALWAYS = "the model always thinks, so it is asked for the least"
_MOST_PENALTY = 1.99
"""Penalties lie in [-2, 2): https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerationConfig"""


def sampling_keys(sampled: Sampling, habits: Habits, notes: Notes) -> dict[str, NativeValue]:
    """Sampling in Google's words. Penalties are taken from Gemini 3 on; older models refuse them."""
    notes.warnings += sampled.warnings
    keys: dict[str, NativeValue] = {}
    for name, value in sampled.values.items():
        place = f"options.{name}"
        if name not in _NAMES:
            notes.warn("parameter_dropped", place, "the dialect does not know it")
        elif name not in _PENALTIES:
            keys[_NAMES[name]] = int(value) if name == "top_k" else value
        elif not habits.takes_penalties:
            notes.warn("parameter_dropped", place, "the model takes no penalties")
        else:
            keys[_NAMES[name]] = min(value, _MOST_PENALTY)
            if value > _MOST_PENALTY:
                notes.warn("parameter_clamped", place, f"the highest is {_MOST_PENALTY}")
    return keys


def thinking_config(
    options: GenerationOptions, habits: Habits, longest: int, notes: Notes
) -> dict[str, NativeValue] | None:
    """`thinkingConfig`, None where the model is left to itself. Summaries of thoughts are not asked for.

    `longest`: tokens of the reply, of which thinking takes a part. https://ai.google.dev/gemini-api/docs/thinking
    """
    level = thinking_level(options)
    asked = effort(level)
    match habits.thinking:
        case None:
            if asked is not None:
                notes.warn("parameter_dropped", _LEVEL, "the model has no levels of thinking")
            return None
        case "budget":
            if level == "auto":
                return {"thinkingBudget": -1}
            if asked is not None:
                return {"thinkingBudget": thinking_budget(asked, least=habits.least_budget, reply=longest)}
            if habits.can_be_off:
                return {"thinkingBudget": 0}
            notes.warn("parameter_clamped", _LEVEL, _ALWAYS)
            return {"thinkingBudget": habits.least_budget}
        case "level":
            if level == "auto":
                return None
            if asked is not None:
                return {"thinkingLevel": asked.upper()}
            notes.warn("parameter_clamped", _LEVEL, _ALWAYS)
            return {"thinkingLevel": habits.least_level}
        case _:
            assert_never(habits.thinking)
