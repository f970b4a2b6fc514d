"""Google's three ways to its models. A path holds the model's name, so the dialect makes it."""

from dataclasses import replace

from services.catalog.providers import PROVIDERS
from services.context.habits.row import Habits

GEMINI = Habits(
    provider="google",
    dialect="google",
    base_url=PROVIDERS["google"].base_url,
    path="",
    placement="x-goog-api-key",
    max_tokens=8192,
)
VERTEX = replace(GEMINI, provider="vertex", base_url=PROVIDERS["vertex"].base_url, placement="google-adc")
VERTEX_EXPRESS = replace(GEMINI, provider="vertexexpress", base_url=PROVIDERS["vertexexpress"].base_url)
