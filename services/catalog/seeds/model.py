"""One model as it is seeded."""

from dataclasses import dataclass, fields

from schemas.chunks import Dialect
from services.catalog.target import ModelFacts


@dataclass(frozen=True, slots=True)
class ModelSeed:
    """What a row of `llms` gets; all flags are off unless they are set. `dialect` None is the provider's.

    A live model is one that is not deprecated. Each provider has exactly one live default and at least one smartest.
    """

    codename: str
    description: str = ""
    is_default: bool = False
    is_smartest: bool = False
    is_reasoning: bool = False
    is_deprecated: bool = False
    is_free: bool = False
    is_uncensored: bool = False
    has_tools: bool = False
    sees_images: bool = False
    sees_videos: bool = False
    sees_youtube: bool = False
    supports_structured_output: bool = False
    strict_role_alternation: bool = False
    supports_prefix_completion: bool = False
    dialect: Dialect | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    supported_parameters: frozenset[str] | None = None

    def facts(self) -> ModelFacts:
        """What a request needs to know of the model."""
        shared = {one.name for one in fields(ModelFacts)} & {one.name for one in fields(self)}
        return ModelFacts(**{name: getattr(self, name) for name in shared})
