"""Whom a request is made for: one model of one provider, and what is known of it."""

from dataclasses import dataclass
from typing import Literal

from schemas.chunks import Dialect

ProviderName = Literal[
    "openai",
    "google",
    "vertex",
    "vertexexpress",
    "openrouter",
    "anthropic",
    "deepseek",
    "zai",
    "zaicoding",
    "nvidia",
    "novelai",
    "custom",
]
"""Providers of the seeds, and OpenAI itself; `custom` is any other server that speaks a known dialect."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the catalog knows of a model. Token counts and `supported_parameters` are None where nobody knows.

    The two strict flags are the catalog's columns (seed 004), not what the provider forces in any case.
    """

    codename: str
    has_tools: bool = False
    sees_images: bool = False
    sees_videos: bool = False
    sees_youtube: bool = False
    supports_structured_output: bool = False
    is_reasoning: bool = False
    strict_role_alternation: bool = False
    supports_prefix_completion: bool = False
    verbatim_tool_calling: bool = False
    context_window: int | None = None
    max_output_tokens: int | None = None
    supported_parameters: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The model of a request. `base_url` None is the provider's own; `num_ctx` is a custom endpoint's context size."""

    provider: ProviderName
    dialect: Dialect
    model: ModelFacts
    base_url: str | None = None
    num_ctx: int | None = None
