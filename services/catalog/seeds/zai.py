"""Z.ai's models, for its two plans. Each continues an assistant turn only if it is marked.

Limits: https://docs.z.ai/guides/llm/glm-4.7 and its neighbours; those of the other models are not told there.
"""

from dataclasses import replace
from functools import partial

from services.catalog.seeds.model import ModelSeed

_glm = partial(ModelSeed, has_tools=True, supports_structured_output=True, supports_prefix_completion=True)
_large = partial(_glm, context_window=200_000, max_output_tokens=128_000)

CODING = (
    _large("glm-4.6"),
    _glm("glm-4.6v", sees_images=True),
    _glm("glm-4.6v-flash", is_free=True, sees_images=True),
    _large(
        "glm-4.7", "The default, and the most able of the list", is_default=True, is_smartest=True, is_reasoning=True
    ),
    _large("glm-4.7-flash", "Fast and free", is_free=True),
    _large("glm-5", is_reasoning=True),
    _large("glm-5.1", is_reasoning=True),
    _large("glm-5-turbo"),
    _large("glm-5v-turbo", is_reasoning=True, sees_images=True),
)
"""The coding plan's models."""

MODELS = tuple(replace(model, codename=f"zai/{model.codename}") for model in CODING)
"""The same at the general address, where codenames carry the provider's."""
