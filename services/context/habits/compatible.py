"""Providers and servers that speak OpenAI's chat completions, each with its own habits."""

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from schemas.context import ThinkingLevel
from services.catalog.providers import PROVIDERS
from services.context.habits.row import ChatHabits, Habits, ThinkingRule

_LEVELS: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
_ASKED: tuple[ThinkingLevel, ...] = ("none", *_LEVELS)
_ENABLED: Mapping[str, JsonValue] = {"thinking": {"type": "enabled"}}
_DISABLED: Mapping[str, JsonValue] = {"thinking": {"type": "disabled"}}
_SWITCHED_ON: Mapping[ThinkingLevel, Mapping[str, JsonValue]] = dict.fromkeys(_LEVELS, _ENABLED)
_SWITCHED: Mapping[ThinkingLevel, Mapping[str, JsonValue]] = {"none": _DISABLED, **_SWITCHED_ON}

OPENROUTER = Habits(
    provider="openrouter",
    dialect="openai-chat",
    base_url=PROVIDERS["openrouter"].base_url,
    path="/chat/completions",
    # https://openrouter.ai/docs/app-attribution
    headers={"http-referer": "https://odradek.example", "x-title": "Odradek"},
    most_tokens=8192,
    defaults={"repetition_penalty": 1.1},
    # https://openrouter.ai/docs/use-cases/reasoning-tokens
    thinking=(ThinkingRule(levels={level: {"reasoning": {"effort": level}} for level in _ASKED}),),
    chat=ChatHabits(
        empty_content=None, signature="thought_signature", videos=True, require_parameters=True, gated=True
    ),
)
DEEPSEEK = Habits(
    provider="deepseek",
    dialect="openai-chat",
    base_url=PROVIDERS["deepseek"].base_url,
    path="/chat/completions",
    max_tokens=4096,
    # https://api-docs.deepseek.com/guides/thinking_mode: V4 models think unless told not to, and then ignore sampling.
    thinking=(
        ThinkingRule(levels={}, models=re.compile("deepseek-reasoner"), unsampled=frozenset({"auto", *_ASKED})),
        ThinkingRule(
            levels=_SWITCHED_ON,
            models=re.compile("deepseek-chat"),
            unsampled=frozenset(_LEVELS),
        ),
        ThinkingRule(
            levels=_SWITCHED,
            models=re.compile("deepseek-v4-flash"),
            unsampled=frozenset(_LEVELS),
        ),
    ),
    mandatory=frozenset({"thinking"}),
    # https://api-docs.deepseek.com/guides/chat_prefix_completion
    chat=ChatHabits(reasoning_content=True, continuing_base_url="https://api.deepseek.com/beta"),
)
ZAI = Habits(
    provider="zai",
    dialect="openai-chat",
    base_url=PROVIDERS["zai"].base_url,
    path="/chat/completions",
    max_tokens=4096,
    thinking=(ThinkingRule(levels=_SWITCHED, unsampled=frozenset(_LEVELS)),),
    model_prefix="zai/",
    chat=ChatHabits(tool_stream=True),
)
ZAICODING = replace(ZAI, provider="zaicoding", base_url=PROVIDERS["zaicoding"].base_url)
NVIDIA = Habits(
    provider="nvidia",
    dialect="openai-chat",
    base_url=PROVIDERS["nvidia"].base_url,
    path="/chat/completions",
    max_tokens=4096,
    # Models of many makers: one template calls it `enable_thinking`, another `thinking`.
    thinking=(
        ThinkingRule(
            levels={
                level: {
                    "chat_template_kwargs": {"enable_thinking": level != "none", "thinking": level != "none"},
                    "reasoning_effort": "low" if level == "none" else level,
                }
                for level in _ASKED
            }
        ),
    ),
)
CUSTOM = Habits(
    provider="custom",
    dialect="openai-chat",
    base_url=None,
    path="/chat/completions",
    max_tokens=4096,
    speaker_stop=False,
    defaults={"repetition_penalty": 1.1},
    # Of the servers that people run only Ollama takes an effort from every model: https://docs.ollama.com/api/openai-compatibility
    thinking=(
        ThinkingRule(
            levels={level: {"reasoning_effort": level} for level in _ASKED},
            hosts=re.compile(r".*ollama.*|.*:11434"),
        ),
    ),
    chat=ChatHabits(context_size=True, system_in_band=re.compile(r"(localhost|127\.0\.0\.1|\[::1\]):8000")),
)
CUSTOM_RESPONSES = Habits(
    provider="custom",
    dialect="openai-responses",
    base_url=None,
    path="/responses",
    sampling=frozenset({"temperature", "top_p"}),
)
