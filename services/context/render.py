"""From a neutral context to the request of one target: make its calls readable, tell of tools, relocate media, cut, say it.

It is pure: whatever it needs is in the context and in the target, and the same two give the same request.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from schemas.chunks import Dialect
from schemas.context import NeutralContext
from services.catalog.target import Target
from services.context.dialects.anthropic_messages import request as anthropic_messages
from services.context.dialects.chat_completions import request as chat_completions
from services.context.dialects.google import request as google
from services.context.dialects.novelai import request as novelai
from services.context.dialects.responses import request as responses
from services.context.dialects.shown import media_places
from services.context.failures import ContextTooLong
from services.context.habits.length import reply_length, window_of
from services.context.habits.table import HABITS
from services.context.neutral.relocation import relocate_media
from services.context.neutral.truncation import output_reserve, truncate
from services.context.rendered import Rendered, RenderWarning
from services.context.sanitizing.messages import sanitize_messages_for_target
from services.context.tools.written_out import told_of_tools

BUILDERS: Mapping[Dialect, Callable[[NeutralContext, Target], Rendered]] = {
    "openai-chat": chat_completions.build,
    "openai-responses": responses.build,
    "anthropic": anthropic_messages.build,
    "google": google.build,
    "novelai": novelai.build,
}


def render(context: NeutralContext, target: Target, *, retries: int = 0) -> Rendered:
    """The request; the places of its warnings are those of `context`. Raises a CannotAssemble.

    `retries` counts the replies of the turn that were empty because they ran out of length: each drops more history.
    """
    readable = sanitize_messages_for_target(context, target)
    told = told_of_tools(readable.context, target)
    moved = told.context.model_copy(update={"items": relocate_media(told.context.items)})
    fitted, cuts = _fitted(moved, target, retries)
    made = BUILDERS[target.dialect](fitted, target)
    placed = _placed(made.warnings, readable.context, fitted)
    return replace(made, warnings=(*readable.warnings, *cuts, *placed), known_tools=(*made.known_tools, *told.known))


def _fitted(context: NeutralContext, target: Target, retries: int) -> tuple[NeutralContext, tuple[RenderWarning, ...]]:
    """The context without history that the model has no room for, where its window is known."""
    window = window_of(target)
    habits = HABITS.get((target.provider, target.dialect))
    length = None if habits is None else reply_length(context.options, target, habits)
    reserve = length or output_reserve(context.options, ceiling=target.model.max_output_tokens)
    cut = truncate(context, window=window, reserve=reserve, retries=retries)
    # An estimate that is a little too long is left to the provider, which can count.
    if window is not None and cut.estimated_tokens >= window:
        raise ContextTooLong(cut.estimated_tokens, window)
    return cut.context, cut.warnings


def _placed(
    warnings: tuple[RenderWarning, ...], given: NeutralContext, rendered: NeutralContext
) -> tuple[RenderWarning, ...]:
    """The warnings about media, at the places where the context had them before relocation and truncation."""
    if not warnings:
        return ()
    before = media_places(given.items)
    moved = {place: before[part] for part, place in media_places(rendered.items).items()}
    return tuple(replace(warning, place=moved.get(warning.place, warning.place)) for warning in warnings)
