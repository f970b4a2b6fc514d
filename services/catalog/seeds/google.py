"""Google's models, at the Gemini API, at Vertex AI, and at Vertex AI in express mode.

Limits: https://ai.google.dev/gemini-api/docs/models.
"""

from functools import partial

from services.catalog.seeds.model import ModelSeed

_model = partial(ModelSeed, has_tools=True, sees_images=True, supports_structured_output=True)
_gemini = partial(_model, sees_videos=True, sees_youtube=True, context_window=1_048_576, max_output_tokens=65_536)
_gemma = partial(_model, context_window=262_144)
_express = partial(_model, context_window=1_048_576, max_output_tokens=65_536)
_retired = partial(ModelSeed, is_deprecated=True)

GEMINI = (
    _gemini("gemini-2.5-flash", "Fast and able", is_default=True, is_free=True),
    _gemini("gemini-2.5-flash-lite", "The cheapest of its generation", is_free=True),
    _gemini("gemini-2.5-pro", "Thorough", is_smartest=True, is_reasoning=True, is_free=True),
    _gemini("gemini-3-flash-preview", "A preview of the next generation", is_free=True),
    _gemini("gemini-3.1-flash-lite-preview", "A cheap preview"),
    _gemini("gemini-3.1-pro-preview", "A thorough preview", is_reasoning=True),
    _gemma("gemma-4-31b-it", "An open model", sees_videos=True),
    _gemma("gemma-4-26b-a4b-it", "A faster open model", sees_videos=True),
    _retired("gemma-3-27b-it", sees_images=True),
    _retired("gemini-3-pro-preview", has_tools=True, sees_images=True),
)

VERTEX = (
    _gemini("gemini-2.5-flash", "Fast and able", is_default=True),
    _gemini("gemini-2.5-pro", "Thorough", is_smartest=True, is_reasoning=True),
    _gemini("gemini-2.5-flash-lite", "The cheapest of its generation"),
    _gemini("gemini-3-flash-preview", "A preview of the next generation"),
    _gemini("gemini-3.1-flash-lite-preview", "A cheap preview"),
    _gemini("gemini-3.1-pro-preview", "A thorough preview", is_reasoning=True),
    _gemma("gemma-4-31b-it", "An open model"),
)

VERTEX_EXPRESS = (
    _express("gemini-2.5-flash", "Fast and able", is_default=True),
    _express("gemini-2.5-pro", "Thorough", is_smartest=True, is_reasoning=True),
    _express("gemini-2.0-flash", "The generation before", max_output_tokens=8_192),
    _express("gemini-3-flash-preview", "A preview of the next generation"),
    _express("gemini-3.1-flash-lite-preview", "A cheap preview"),
    _express("gemini-3.1-pro-preview", "A thorough preview", is_reasoning=True),
)
