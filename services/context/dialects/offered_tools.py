"""Which tools of a context a request offers."""

from schemas.context import NeutralContext, ToolDeclaration
from services.catalog.target import ModelFacts
from services.context.dialects.shown import Notes


def offered_tools(context: NeutralContext, model: ModelFacts, notes: Notes) -> tuple[ToolDeclaration, ...]:
    """The tools, or none where the model has no tool calling or the turn wants none."""
    if not context.options.tools_enabled:
        return ()
    if context.tools and not model.has_tools:
        notes.warn("tools_dropped", "tools", "the model calls no tools")
        return ()
    return context.tools
