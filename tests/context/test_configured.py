"""From the settings to a target: whose host is asked decides whose habits count."""

from typing import Any

import pytest

from services.catalog.target import ModelFacts
from services.context.configured import target_of
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings


@pytest.mark.parametrize(
    ("settings", "provider"),
    [
        ({}, "openai"),
        ({"provider_url": "https://api.deepseek.com"}, "deepseek"),
        ({"provider_url": "https://openrouter.ai/api/v1"}, "openrouter"),
        ({"provider_url": "https://api.z.ai/api/coding/paas/v4"}, "zai"),
        ({"provider_url": "http://localhost:1234/v1"}, "custom"),
        ({"provider_url": "https://dashscope.aliyuncs.com/compatible-mode/v1"}, "custom"),
        ({"provider_url": "https://generativelanguage.googleapis.com/v1beta/openai"}, "custom"),
        ({"dialect": "anthropic"}, "anthropic"),
        ({"dialect": "anthropic", "provider_url": "http://localhost:1234"}, "custom"),
        ({"dialect": "anthropic", "provider_url": "https://api.openai.com"}, "custom"),
    ],
)
def test_the_host_decides_whose_habits_count(settings: dict[str, Any], provider: str) -> None:
    target = target_of(Settings(**settings), "m")
    assert (target.provider, target.model.codename, target.dialect) == (
        provider,
        "m",
        settings.get("dialect", "openai-chat"),
    )


def test_of_a_model_that_ships_with_odradek_its_facts_are_known() -> None:
    known = target_of(Settings(dialect="anthropic"), "claude-sonnet-4-6").model
    assert (known.sees_images, known.strict_role_alternation, known.context_window) == (True, True, 1_000_000)
    assert target_of(Settings(), "claude-sonnet-4-6").model == ModelFacts("claude-sonnet-4-6")


def test_a_dialect_without_a_key_in_the_settings_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="novelai"):
        target_of(Settings(dialect="novelai"), "m")


@pytest.mark.parametrize("stops", [",".join(f"s{n}" for n in range(41)), "x" * 201])
def test_stop_strings_beyond_what_a_context_holds_are_refused_at_the_start(stops: str) -> None:
    with pytest.raises(ValueError, match="stop_strings"):
        Settings(stop_strings=stops)
