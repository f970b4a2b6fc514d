"""The parameters that can be set for the models of a provider: their names, their ranges, and what a change makes of them.

They are kept in the `options` of a provider's configuration under the names of GenerationOptions. What is not set is not
there, so a parameter that somebody set to its usual value is told apart from one that nobody set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from schemas.sampling import SamplingParameter, ThinkingLevel
from services.catalog.errors import Refused

Number = Literal["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "min_p", "max_output_tokens"]
Parameter = Literal[Number, "thinking_level", "disabled_parameters"]
PARAMETERS: tuple[Parameter, ...] = get_args(Parameter)
"""All that can be set, in the order in which it is shown."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a number may be: both ends are allowed. `is_whole`: it has no fraction."""

    least: float
    most: float
    is_whole: bool = False


RANGES: Mapping[Number, Range] = {
    "temperature": Range(0, 2),
    "top_p": Range(0, 1),
    "top_k": Range(0, 40, is_whole=True),
    "frequency_penalty": Range(-2, 2),
    "presence_penalty": Range(-2, 2),
    "min_p": Range(0, 1),
    "max_output_tokens": Range(1, 131_072, is_whole=True),
}
"""TomoriBot's: those of its `/model parameters`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is to be changed; all else stays. What is reset is reset before the rest is set.

    A parameter that is disabled keeps its value and is never sent, whoever set it, until it is enabled.
    """

    numbers: Mapping[Number, float] = field(default_factory=dict[Number, float])
    thinking_level: ThinkingLevel | None = None
    reset: frozenset[Parameter] = frozenset()
    disable: Sequence[SamplingParameter] = ()
    enable: Sequence[SamplingParameter] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.thinking_level or self.reset or self.disable or self.enable)


def changed(options: Mapping[str, object], changes: Changes) -> dict[str, object]:
    """The options with the changes, ready for JSON.

    Raises Refused for a number that is out of its range, and for a parameter that is disabled and enabled at once.
    """
    made = {name: value for name, value in options.items() if name not in changes.reset}
    made |= {name: _checked(name, value) for name, value in changes.numbers.items()}
    if changes.thinking_level is not None:
        made["thinking_level"] = changes.thinking_level
    for name in changes.disable:
        if name in changes.enable:
            raise Refused(f"{name} is disabled and enabled at once", remedy="Leave out one of both.")
    held = {*disabled(made), *changes.disable} - {*changes.enable}
    if held:
        made["disabled_parameters"] = sorted(held)
    else:
        made.pop("disabled_parameters", None)
    return made


def disabled(options: Mapping[str, object]) -> tuple[SamplingParameter, ...]:
    """The parameters that are never sent."""
    held = options.get("disabled_parameters")
    known: tuple[SamplingParameter, ...] = get_args(SamplingParameter)
    return tuple(name for name in known if isinstance(held, list) and name in held)


def _checked(name: Number, value: float) -> float:
    allowed = RANGES[name]
    # Written so that what is no number at all, which compares as false with everything, is refused too.
    if not allowed.least <= value <= allowed.most or (allowed.is_whole and value != int(value)):
        kind = "a whole number" if allowed.is_whole else "a number"
        raise Refused(f"{name} is {kind} from {allowed.least} to {allowed.most}, and not {value}")
    return int(value) if allowed.is_whole else float(value) + 0.0  # of -0.0, zero
