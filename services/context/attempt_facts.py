"""What the orchestrator is told of a request, so that it can decide on the next attempt if this one is refused."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from schemas.attempts import MOST_KEYS, AttemptFacts, Chosen, Degradable
from schemas.chunks import Dialect
from services.context.rungs import TOOL_KEYS, has_images, has_tools

_STRUCTURE = frozenset({"model", "messages", "input", "contents", "prompt", "stream", "system", "systemInstruction"})

_DEGRADES: Mapping[str, tuple[Degradable, ...]] = {
    "openrouter": ("bad_request", "bad_gateway"),
    "nvidia": ("bad_request", "opaque_failure"),
}
"""Providers whose refusals say less than others'; of the rest that speak chat completions a bare 400 counts."""

_LONGEST_KEY = 100

_OF_OPTIONS = "generationConfig"
"""An object whose own keys are given up one by one: Google's bodies have all options of the generation in it."""


def facts_of(
    chosen: Chosen,
    dialect: Dialect,
    body: Mapping[str, Any],
    *,
    mandatory: Collection[str] = (),
    added: Sequence[str] = (),
) -> AttemptFacts:
    """The facts of a rendered body before anything is given up; `mandatory` and `added` are those of Rendered."""
    fixed = _STRUCTURE | TOOL_KEYS | frozenset(mandatory)
    options = body.get(_OF_OPTIONS)
    inside = [f"{_OF_OPTIONS}.{key}" for key in cast("dict[str, Any]", options)] if isinstance(options, dict) else []
    ordered = dict.fromkeys((*(key for key in added if key in body), *body, *inside))
    droppable = [key for key in ordered if key not in fixed and len(key) <= _LONGEST_KEY]
    return AttemptFacts(
        chosen=chosen,
        droppable=tuple(droppable[:MOST_KEYS]),
        images=has_images(body),
        tools=has_tools(body),
        degrades=_DEGRADES.get(chosen.provider, ("bad_request",) if dialect == "openai-chat" else ()),
    )
