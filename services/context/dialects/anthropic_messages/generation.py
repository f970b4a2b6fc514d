"""How a Claude is to generate: thinking, and sampling as far as the model takes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from schemas.context import GenerationOptions, SamplingParameter
from services.context.dialects.anthropic_messages.models import Habits
from services.context.dialects.shown import Notes
from services.context.neutral.sampling import Sampling
from services.context.neutral.thinking import effort, thinking_level
from services.context.rendered import NativeValue

KNOWN: frozenset[SamplingParameter] = frozenset({"temperature", "top_p", "top_k"})
"""The sampling parameters of the dialect."""

OFF: NativeValue = {"type": "disabled"}

_MOST_TEMPERATURE = 1.0
_USUAL_TOP_P = 0.95
_LEVEL = "options.thinking_level"


@dataclass(frozen=True, slots=True)
class Generation:
    """Keys of the body; `unasked` are those that the user did not ask for."""

    keys: dict[str, NativeValue]
    unasked: tuple[str, ...] = ()


def generation(options: GenerationOptions, sampled: Sampling, habits: Habits, notes: Notes) -> Generation:
    """Thinking and sampling: a request that lets the model think has no sampling, and none has temperature and top_p.

    https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
    """
    notes.warnings += sampled.warnings
    thinking = _thinking(options, habits, notes)
    unasked = ("thinking",) if "thinking" in thinking and thinking_level(options) == "auto" else ()
    thinks = bool(thinking) and thinking["thinking"] != OFF
    if thinks or not habits.sampling:
        for name in sampled.values:
            _drop(name, "the model takes none while it may think" if thinks else "the model takes none", notes)
        return Generation(thinking, unasked)
    for name in sampled.values:
        if name not in KNOWN:
            _drop(name, "the dialect does not know it", notes)
    return Generation({**thinking, **_sampling(sampled.values, notes)}, unasked)


def _thinking(options: GenerationOptions, habits: Habits, notes: Notes) -> dict[str, NativeValue]:
    """What the level asks for, with the key `thinking` if anything."""
    level = thinking_level(options)
    match habits.thinking:
        case "unasked":
            if effort(level) is not None:
                notes.warn("parameter_dropped", _LEVEL, "the model has no levels of thinking")
            return {}
        case "by choice":
            if level == "none":
                return {"thinking": OFF}
        case "always":
            if level == "none":
                level = "low"
                notes.warn("parameter_clamped", _LEVEL, "the model always thinks, so it is asked for the least")
        case _:
            assert_never(habits.thinking)
    keys: dict[str, NativeValue] = {"thinking": {"type": "adaptive"}}
    if habits.hides_thinking:
        keys["thinking"] = {"type": "adaptive", "display": "summarized"}
    return keys if level == "auto" else {**keys, "output_config": {"effort": level}}


def _sampling(sampling: Mapping[SamplingParameter, float], notes: Notes) -> dict[str, NativeValue]:
    """top_p where it alone was customised, else temperature; top_k beside either."""
    keys: dict[str, NativeValue] = {}
    temperature, top_p, top_k = (sampling.get(name) for name in ("temperature", "top_p", "top_k"))
    customised = top_p is not None and abs(top_p - _USUAL_TOP_P) > 0.001
    if top_p is not None and (temperature is None or (temperature == _MOST_TEMPERATURE and customised)):
        keys["top_p"] = top_p
        if temperature is not None:
            _drop("temperature", "it may not stand beside top_p", notes)
    elif temperature is not None:
        keys["temperature"] = min(temperature, _MOST_TEMPERATURE)
        if temperature > _MOST_TEMPERATURE:
            notes.warn("parameter_clamped", "options.temperature", f"the highest is {_MOST_TEMPERATURE}")
        if top_p is not None:
            _drop("top_p", "it may not stand beside temperature", notes)
    if top_k is not None:
        keys["top_k"] = int(top_k)
    return keys


def _drop(name: str, why: str, notes: Notes) -> None:
    notes.warn("parameter_dropped", f"options.{name}", why)
