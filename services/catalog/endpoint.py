"""A custom endpoint as somebody describes it, before it is saved."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # the command line reads this module at every start, and pydantic is not to be loaded for it
    from schemas.chunks import Dialect

ApiStyle = Literal["openai-compatible", "openai-responses", "anthropic", "google"]
"""What an endpoint speaks."""

DIALECT_OF_STYLE: "dict[ApiStyle, Dialect]" = {
    "openai-compatible": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "google": "google",
}


LEAST_CONTEXT, MOST_CONTEXT = 512, 1_000_000_000
"""Tokens that an endpoint's context may have."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint as somebody describes it. A strict flag that is None is not submitted: it stays, and is off at first."""

    label: str
    url: str
    model: str
    style: ApiStyle = "openai-compatible"
    num_ctx: int | None = None
    requires_auth: bool = True
    has_tools: bool = False
    sees_images: bool = False
    sees_videos: bool = False
    supports_structured_output: bool = False
    verbatim_tool_calling: bool = False
    strict_role_alternation: bool | None = None
    supports_prefix_completion: bool | None = None
