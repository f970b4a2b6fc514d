"""How an OpenAI-shaped request asks to generate: sampling, thinking and the reply's length, by the provider's habits."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.context import GenerationOptions, SamplingParameter
from services.catalog.target import Target
from services.context.dialects.shown import Notes
from services.context.habits.endpoint import server_of
from services.context.habits.length import reply_length
from services.context.habits.row import Habits, ThinkingRule
from services.context.neutral.sampling import sampling
from services.context.neutral.thinking import thinking_level
from services.context.rendered import NativeValue


@dataclass(frozen=True, slots=True)
class Generation:
    """`sampling` and `thinking` are keys of the body; `defaulted` are those of `sampling` that the user did not set."""

    sampling: Mapping[str, NativeValue]
    thinking: Mapping[str, NativeValue]
    defaulted: tuple[SamplingParameter, ...]
    takes_stops: bool


def generation(options: GenerationOptions, target: Target, habits: Habits, notes: Notes) -> Generation:
    """What is sent; what the user set and the model refuses is left out with a warning."""
    sampled = sampling(options, target)
    notes.warnings += sampled.warnings
    values: dict[str, NativeValue] = {**sampled.values}
    for name in sampled.values:
        if habits.sampling and name not in habits.sampling:
            del values[name]
            notes.warn("parameter_dropped", f"options.{name}", "the provider does not know it")
    defaulted: tuple[SamplingParameter, ...] = tuple(
        name for name in habits.defaults if getattr(options, name) is None and name not in options.disabled_parameters
    )
    level = thinking_level(options)
    rule = thinking_rule(habits, target)
    if rule is None:
        if level != "auto":
            notes.warn("parameter_dropped", "options.thinking_level", "the model has no levels of thinking")
        rule = ThinkingRule(levels={})
    unsampled = level in rule.unsampled
    for name in [name for name in values if unsampled and name in rule.omits]:
        del values[name]
        notes.warn("parameter_dropped", f"options.{name}", "the model takes no sampling while it thinks")
    for name in defaulted:
        values[name] = habits.defaults[name]
    return Generation(values, {**rule.levels.get(level, {})}, defaulted, not (unsampled and rule.omits_stops))


def thinking_rule(habits: Habits, target: Target) -> ThinkingRule | None:
    """The first rule that is for the model and the host; None where the row has none for them."""
    name = target.model.codename.removeprefix(habits.model_prefix)
    host = server_of(habits, target.base_url)
    return next((rule for rule in habits.thinking if rule.models.fullmatch(name) and rule.hosts.fullmatch(host)), None)


def bounded(options: GenerationOptions, target: Target, habits: Habits, notes: Notes) -> int | None:
    """The bound of the reply in tokens, with a warning where the user asked for more than the model writes."""
    length = reply_length(options, target, habits)
    if length is not None and options.max_output_tokens is not None and length < options.max_output_tokens:
        notes.warn("parameter_clamped", "options.max_output_tokens", f"the model writes {length} tokens at most")
    return length
