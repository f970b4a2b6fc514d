"""Which tools of a context a request offers, and their dialect's words for them."""

from schemas.context import NeutralContext, ToolDeclaration
from services.catalog.target import ModelFacts, Target
from services.context.dialects.shown import Notes
from services.context.rendered import NativeValue
from services.context.tools.declaring import declare


def offered_tools(context: NeutralContext, model: ModelFacts, notes: Notes) -> tuple[ToolDeclaration, ...]:
    """The tools, or none where the model has no tool calling or the turn wants none."""
    if not context.options.tools_enabled:
        return ()
    if context.tools and not model.has_tools:
        notes.warn("tools_dropped", "tools", "the model calls no tools")
        return ()
    return context.tools


def declared_tools(context: NeutralContext, target: Target, notes: Notes) -> list[NativeValue]:
    """The tools on offer as OpenAI-shaped requests have them; empty if there are none."""
    declared = declare(offered_tools(context, target.model, notes), target.dialect)
    notes.warnings += declared.warnings
    return [{**tool} for tool in declared.native]
