"""NovelAI's models. What a subscription lets a model write is asked of NovelAI, so no limits stand here."""

from services.catalog.seeds.model import ModelSeed

MODELS = (
    ModelSeed("glm-4-6", "Follows instructions", is_smartest=True, is_default=True, has_tools=True),
    ModelSeed("kayra-v1", "Continues a story"),
    ModelSeed("llama-3-erato-v1", "Continues a story"),
)
