"""From a row of the catalog to the target of a request."""

from typing import get_args

from schemas.chunks import Dialect
from services.catalog.providers import PROVIDERS, provider_named
from services.catalog.tables import CustomEndpoint, Llm
from services.catalog.target import ModelFacts, Target

_DIALECTS: dict[str, Dialect] = {dialect: dialect for dialect in get_args(Dialect)}


def target_of(llm: Llm, endpoint: CustomEndpoint | None) -> Target:
    """The model as it is asked; of a custom endpoint under the name that its server knows it by."""
    provider = "custom" if endpoint is not None else provider_named(llm.provider) or "custom"
    info = PROVIDERS[provider]
    facts = ModelFacts(
        codename=llm.codename if endpoint is None else endpoint.model_name,
        has_tools=llm.has_tools,
        sees_images=llm.sees_images,
        sees_videos=llm.sees_videos,
        sees_youtube=llm.sees_youtube,
        supports_structured_output=llm.supports_structured_output,
        is_reasoning=llm.is_reasoning,
        strict_role_alternation=llm.strict_role_alternation,
        supports_prefix_completion=llm.supports_prefix_completion,
        verbatim_tool_calling=llm.verbatim_tool_calling,
        context_window=llm.context_window,
        max_output_tokens=llm.max_output_tokens,
        supported_parameters=None if llm.supported_parameters is None else frozenset(llm.supported_parameters),
    )
    dialect = _DIALECTS.get(llm.dialect or "", info.dialect)
    if endpoint is None:
        return Target(provider, dialect, facts)
    return Target(provider, dialect, facts, endpoint.endpoint_url, endpoint.num_ctx)
