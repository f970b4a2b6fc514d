"""OpenAI itself, whose reasoning models refuse what its others take.

https://platform.openai.com/docs/guides/reasoning: reasoning models take neither sampling parameters nor stop strings, unless
a later one is told not to reason. What the least effort is called depends on the model.
"""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from schemas.context import ThinkingLevel
from services.catalog.providers import PROVIDERS
from services.context.habits.row import ChatHabits, Habits, ThinkingRule

_ALL: frozenset[ThinkingLevel] = frozenset({"auto", "none", "low", "medium", "high"})


def _rules(*path: str) -> tuple[ThinkingRule, ...]:
    """The rules of all models, for a dialect that has the effort at `path`."""

    def efforts(none: str) -> dict[ThinkingLevel, Mapping[str, JsonValue]]:
        return {level: _at(path, none if level == "none" else level) for level in ("none", "low", "medium", "high")}

    return (
        ThinkingRule(levels={}, models=re.compile(r".*-chat(-.*)?")),
        ThinkingRule(levels=efforts("low"), models=re.compile(r"o\d.*"), unsampled=_ALL, omits_stops=True),
        ThinkingRule(
            levels=efforts("none"), models=re.compile(r"gpt-5\.\d.*"), unsampled=_ALL - {"none"}, omits_stops=True
        ),
        ThinkingRule(levels=efforts("minimal"), models=re.compile(r"gpt-5.*"), unsampled=_ALL, omits_stops=True),
    )


def _at(path: tuple[str, ...], effort: str) -> dict[str, JsonValue]:
    value: JsonValue = effort
    for key in reversed(path[1:]):
        value = {key: value}
    return {path[0]: value}


CHAT = Habits(
    provider="openai",
    dialect="openai-chat",
    base_url=PROVIDERS["openai"].base_url,
    path="/chat/completions",
    thinking=_rules("reasoning_effort"),
    chat=ChatHabits(length_key="max_completion_tokens"),
)
RESPONSES = Habits(
    provider="openai",
    dialect="openai-responses",
    base_url=PROVIDERS["openai"].base_url,
    path="/responses",
    sampling=frozenset({"temperature", "top_p"}),
    thinking=_rules("reasoning", "effort"),
)
