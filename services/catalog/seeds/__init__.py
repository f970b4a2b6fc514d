"""The models that ship with Odradek, one module a provider, and the table of them all.

What a provider's page says of a model's limits stands here; where no page says it, nothing does.
"""

from collections.abc import Mapping

from services.catalog.seeds import anthropic, custom, deepseek, google, novelai, nvidia, openai, openrouter, zai
from services.catalog.seeds.model import ModelSeed
from services.catalog.target import ProviderName

SEEDS: Mapping[ProviderName, tuple[ModelSeed, ...]] = {
    "openai": openai.MODELS,
    "google": google.GEMINI,
    "vertex": google.VERTEX,
    "vertexexpress": google.VERTEX_EXPRESS,
    "openrouter": openrouter.MODELS,
    "anthropic": anthropic.MODELS,
    "deepseek": deepseek.MODELS,
    "zai": zai.MODELS,
    "zaicoding": zai.CODING,
    "nvidia": nvidia.MODELS,
    "novelai": novelai.MODELS,
    "custom": custom.MODELS,
}
