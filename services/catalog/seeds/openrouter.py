"""A choice of the models behind OpenRouter; any other is registered by its name.

OpenRouter tells each model's limits itself: https://openrouter.ai/api/v1/models.
"""

from functools import partial

from services.catalog.seeds.model import ModelSeed

_model = partial(ModelSeed, has_tools=True, supports_structured_output=True)
_seeing = partial(_model, sees_images=True)
_gemini = partial(_seeing, sees_videos=True, context_window=1_048_576, max_output_tokens=65_536)

MODELS = (
    _seeing("google/gemma-4-31b-it:free", "An open model, free", is_default=True, is_free=True),
    _seeing("google/gemma-4-31b-it", "The same, without the free tier's limits"),
    _model("z-ai/glm-5", is_reasoning=True),
    _model("deepseek/deepseek-v4-flash", is_uncensored=True, context_window=1_000_000, max_output_tokens=384_000),
    _seeing("x-ai/grok-4.1-fast"),
    _gemini("google/gemini-3-flash-preview"),
    _gemini("google/gemini-3.1-flash-lite-preview"),
    _gemini("google/gemini-3.1-pro-preview", is_reasoning=True),
    _seeing("anthropic/claude-sonnet-4.6", context_window=1_000_000, max_output_tokens=128_000),
    _seeing("anthropic/claude-haiku-4.5", context_window=200_000, max_output_tokens=64_000),
    _seeing(
        "openai/gpt-5.1-chat", is_smartest=True, is_reasoning=True, context_window=128_000, max_output_tokens=16_384
    ),
    _seeing("qwen/qwen3.5-397b-a17b"),
    _seeing("moonshotai/kimi-k2.6"),
    ModelSeed(
        "other-model",
        "Stands for any model that is registered by its name",
        has_tools=True,
        sees_images=True,
        sees_videos=True,
        sees_youtube=True,
        supports_structured_output=True,
    ),
    ModelSeed("account-setting", "The model that the account names", is_deprecated=True),
)
