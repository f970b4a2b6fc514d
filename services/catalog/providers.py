"""The providers of the seeds as data: where each answers, what it speaks, and how it wants its key."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.chunks import Dialect
from schemas.prompts import Placement
from services.catalog.target import ProviderName


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """A provider. `dialect` is that of its models unless a model names another; `aliases` are other names that people use.

    `base_url` ends where the dialect's paths begin. It is None where it is not fixed: Vertex has one a project, a custom
    endpoint brings its own.
    """

    name: ProviderName
    display_name: str
    dialect: Dialect
    placement: Placement
    base_url: str | None
    aliases: tuple[str, ...] = ()


_ROWS = (
    ProviderInfo("openai", "OpenAI", "openai-responses", "bearer", "https://api.openai.com/v1"),
    ProviderInfo(
        "google",
        "Google Gemini",
        "google",
        "x-goog-api-key",
        "https://generativelanguage.googleapis.com/v1beta",
        ("gemini",),
    ),
    ProviderInfo("vertex", "Google Vertex AI", "google", "google-adc", None, ("vertexai",)),
    ProviderInfo(
        "vertexexpress",
        "Google Vertex AI Express",
        "google",
        "x-goog-api-key",
        "https://aiplatform.googleapis.com/v1/publishers/google",
        ("vertex-express",),
    ),
    ProviderInfo("openrouter", "OpenRouter", "openai-chat", "bearer", "https://openrouter.ai/api/v1", ("or",)),
    ProviderInfo("anthropic", "Anthropic", "anthropic", "x-api-key", "https://api.anthropic.com/v1", ("claude",)),
    ProviderInfo("deepseek", "DeepSeek", "openai-chat", "bearer", "https://api.deepseek.com"),
    ProviderInfo("zai", "Z.ai", "openai-chat", "bearer", "https://api.z.ai/api/paas/v4"),
    ProviderInfo(
        "zaicoding", "Z.ai Coding Plan", "openai-chat", "bearer", "https://api.z.ai/api/coding/paas/v4", ("zai-coding",)
    ),
    ProviderInfo("nvidia", "NVIDIA NIM", "openai-chat", "bearer", "https://integrate.api.nvidia.com/v1", ("nim",)),
    ProviderInfo("novelai", "NovelAI", "novelai", "bearer", "https://text.novelai.net", ("nai",)),
    ProviderInfo("custom", "Custom endpoint", "openai-chat", "bearer", None),
)

PROVIDERS: Mapping[ProviderName, ProviderInfo] = {row.name: row for row in _ROWS}
"""Every provider by its name."""

_BY_NAME: Mapping[str, ProviderName] = {name: row.name for row in _ROWS for name in (row.name, *row.aliases)}


def provider_named(name: str) -> ProviderName | None:
    """The provider that the name or alias means, in any case of letters; None for no provider."""
    return _BY_NAME.get(name.strip().lower())


def vertex_base_url(project: str, location: str) -> str:
    """Where a project's models answer in a location; `global` has no region in its host.

    https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
    """
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    return f"https://{host}/v1/projects/{project}/locations/{location}/publishers/google"
