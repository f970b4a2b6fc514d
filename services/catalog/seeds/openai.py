"""OpenAI's models: those that reason at the Responses API, the others as chat completions, which take stop strings.

Limits: https://platform.openai.com/docs/models. Reasoning models take no sampling parameters.
"""

from functools import partial

from services.catalog.seeds.model import ModelSeed

_model = partial(ModelSeed, has_tools=True, sees_images=True, supports_structured_output=True)
_gpt5 = partial(
    _model,
    is_reasoning=True,
    context_window=400_000,
    max_output_tokens=128_000,
    supported_parameters=frozenset[str](),
)
_gpt41 = partial(_model, dialect="openai-chat", context_window=1_047_576, max_output_tokens=32_768)

MODELS = (
    _gpt5("gpt-5.1", "Thorough", is_smartest=True),
    _gpt5("gpt-5-mini", "Fast and able", is_default=True),
    _gpt5("gpt-5-nano", "The cheapest"),
    _gpt41("gpt-4.1", "Answers at once, without reasoning"),
    _gpt41("gpt-4.1-mini", "The same, cheaper"),
)
