"""Sampling: which parameters are active, and which of them a provider is sent."""

from typing import Any, get_args

import pytest

from schemas.chunks import Dialect
from schemas.context import GenerationOptions, SamplingParameter
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.neutral.sampling import SUPPORTED, active_parameters, sampling


def target(provider: ProviderName, parameters: frozenset[str] | None = None) -> Target:
    dialect: Dialect = "openai-chat"
    return Target(provider, dialect, ModelFacts("m", supported_parameters=parameters))


ALL = GenerationOptions(
    temperature=0.5,
    top_p=0.9,
    top_k=20,
    frequency_penalty=0.1,
    presence_penalty=-0.1,
    repetition_penalty=1.1,
    min_p=0.05,
)


@pytest.mark.parametrize(
    "options",
    [
        {"top_p": 1.0},
        {"top_k": 0},
        {"frequency_penalty": 0.0},
        {"presence_penalty": 0.0},
        {"repetition_penalty": 1.0},
        {"min_p": 0.0},
        {},
    ],
)
def test_what_does_nothing_is_not_sent(options: dict[str, Any]) -> None:
    assert active_parameters(GenerationOptions(**options)) == {}


def test_temperature_is_active_at_any_value() -> None:
    assert active_parameters(GenerationOptions(temperature=0)) == {"temperature": 0}
    assert active_parameters(GenerationOptions(temperature=1)) == {"temperature": 1}


@pytest.mark.parametrize("name", get_args(SamplingParameter))
def test_a_disabled_parameter_is_never_sent(name: SamplingParameter) -> None:
    active = active_parameters(ALL.model_copy(update={"disabled_parameters": (name,)}))
    assert set(active) == set(get_args(SamplingParameter)) - {name}


@pytest.mark.parametrize("provider", get_args(ProviderName))
def test_a_provider_gets_what_it_knows_and_the_rest_is_told(provider: ProviderName) -> None:
    sent = sampling(ALL, target(provider))
    assert set(sent.values) == set(SUPPORTED[provider])
    told = {warning.place for warning in sent.warnings}
    assert told == {f"options.{name}" for name in set(get_args(SamplingParameter)) - set(SUPPORTED[provider])}


def test_a_model_may_know_less_than_its_provider() -> None:
    sent = sampling(ALL, target("openrouter", frozenset({"temperature", "top_k", "tools"})))
    assert sent.values == {"temperature": 0.5, "top_k": 20}
    assert len(sent.warnings) == 5


def test_what_would_do_nothing_is_not_warned_of() -> None:
    assert sampling(GenerationOptions(top_k=0, min_p=0), target("openai")).warnings == ()
