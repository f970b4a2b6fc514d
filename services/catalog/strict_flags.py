"""Which providers demand one of the two strict flags, and where a user may choose them.

From "strict chat-completion compatibility". The check of the seeds and the request path read the same two sets, so they
cannot differ.
"""

from typing import Literal

from schemas.chunks import Dialect
from services.catalog.target import ProviderName

ApiFamily = Literal["openai-compatible", "openai-responses", "openrouter", "anthropic", "google", "novelai"]
"""Providers whose requests are made by the same code."""

StrictFlag = Literal["strict_role_alternation", "supports_prefix_completion"]

REQUIRED_ALTERNATION_PROVIDERS: frozenset[str] = frozenset({"anthropic"})
REQUIRED_PREFIX_PROVIDERS: frozenset[str] = frozenset({"deepseek", "zai", "zaicoding"})

_FAMILY_OF_DIALECT: dict[Dialect, ApiFamily] = {
    "openai-chat": "openai-compatible",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "google": "google",
    "novelai": "novelai",
}


def provider_requires_alternation(provider: str) -> bool:
    """Whether the provider refuses messages whose roles do not alternate, whatever the catalog says of the model."""
    return provider in REQUIRED_ALTERNATION_PROVIDERS


def provider_requires_prefix_completion(provider: str) -> bool:
    """Whether the provider continues an assistant turn only if it is marked, whatever the catalog says of the model."""
    return provider in REQUIRED_PREFIX_PROVIDERS


def api_family(provider: ProviderName, dialect: Dialect) -> ApiFamily:
    """The family of a provider; OpenRouter has its own, though its dialect is that of chat completions."""
    return "openrouter" if provider == "openrouter" else _FAMILY_OF_DIALECT[dialect]


def offered_chat_compat_flags(family: ApiFamily, provider: str) -> frozenset[StrictFlag]:
    """The flags that a user may set: those that the request path reads and the provider does not force anyway."""
    if family != "openai-compatible":
        return frozenset()
    forced: dict[StrictFlag, bool] = {
        "strict_role_alternation": provider_requires_alternation(provider),
        "supports_prefix_completion": provider_requires_prefix_completion(provider),
    }
    return frozenset(flag for flag, is_forced in forced.items() if not is_forced)
