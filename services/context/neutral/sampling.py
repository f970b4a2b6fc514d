"""Sampling parameters: which of them a request has a reason to send, and which its provider knows."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.context import GenerationOptions, SamplingParameter
from services.catalog.target import ProviderName, Target
from services.context.rendered import RenderWarning

_THREE: tuple[SamplingParameter, ...] = ("temperature", "top_p", "top_k")
_SIX: tuple[SamplingParameter, ...] = (*_THREE, "frequency_penalty", "presence_penalty", "min_p")
_ALL: tuple[SamplingParameter, ...] = (*_SIX, "repetition_penalty")

SUPPORTED: Mapping[ProviderName, tuple[SamplingParameter, ...]] = {
    # https://platform.openai.com/docs/api-reference/chat/create: an unknown key is refused
    "openai": ("temperature", "top_p", "frequency_penalty", "presence_penalty"),
    "google": (*_THREE, "frequency_penalty", "presence_penalty"),
    "vertex": _THREE,
    "vertexexpress": _THREE,
    "openrouter": _ALL,
    "anthropic": _THREE,
    "deepseek": _SIX,
    "zai": _SIX,
    "zaicoding": _SIX,
    "nvidia": _SIX,
    "novelai": (*_THREE, "min_p"),
    "custom": _ALL,
}
"""What may be sent to a provider at all; a model may know less."""

_NEUTRAL: Mapping[SamplingParameter, float] = {
    "top_p": 1,
    "top_k": 0,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "repetition_penalty": 1,
    "min_p": 0,
}
"""The value of a parameter at which it does nothing. Temperature has none."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """`values`: what to send, in the order of `SamplingParameter`."""

    values: Mapping[SamplingParameter, float]
    warnings: tuple[RenderWarning, ...] = ()


def sampling(options: GenerationOptions, target: Target) -> Sampling:
    """The parameters that do something, are not disabled, and are known to the provider and, as far as told, the model.

    What the user set to some effect and the target does not know is warned of.
    """
    known = SUPPORTED[target.provider]
    if target.model.supported_parameters is not None:
        known = tuple(name for name in known if name in target.model.supported_parameters)
    active = active_parameters(options)
    dropped = tuple(
        RenderWarning("parameter_dropped", f"options.{name}", "the model's provider does not know it")
        for name in active
        if name not in known
    )
    return Sampling({name: value for name, value in active.items() if name in known}, dropped)


def active_parameters(options: GenerationOptions) -> dict[SamplingParameter, float]:
    """The parameters that are set, do something and are not disabled."""
    given: dict[SamplingParameter, float | None] = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
        "frequency_penalty": options.frequency_penalty,
        "presence_penalty": options.presence_penalty,
        "repetition_penalty": options.repetition_penalty,
        "min_p": options.min_p,
    }
    return {
        name: value
        for name, value in given.items()
        if value is not None and value != _NEUTRAL.get(name) and name not in options.disabled_parameters
    }
