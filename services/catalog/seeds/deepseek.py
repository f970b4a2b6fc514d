"""DeepSeek's models. Each continues an assistant turn only if it is marked.

Limits: https://api-docs.deepseek.com/quick_start/pricing; the two older names are modes of v4-flash there.
"""

from functools import partial

from services.catalog.seeds.model import ModelSeed

_deepseek = partial(
    ModelSeed,
    has_tools=True,
    supports_structured_output=True,
    supports_prefix_completion=True,
    context_window=1_000_000,
    max_output_tokens=384_000,
)

MODELS = (
    _deepseek("deepseek-v4-flash", "Fast and cheap", is_default=True),
    _deepseek("deepseek-v4-pro", "The most able DeepSeek", is_smartest=True),
    _deepseek("deepseek-chat", "v4-flash without thinking"),
    _deepseek("deepseek-reasoner", "v4-flash with thinking", is_smartest=True, is_reasoning=True),
)
