"""A neutral context as a request for Anthropic's messages.

https://platform.claude.com/docs/en/api/messages
"""

from collections.abc import Sequence

from schemas.context import FunctionExchange, ImagePart, NeutralContext, OmittedPart, StructuredContextItem
from services.catalog.target import Target
from services.context.dialects.anthropic_messages.caching import last_stable
from services.context.dialects.anthropic_messages.exchanges import exchange_turns
from services.context.dialects.anthropic_messages.generation import generation
from services.context.dialects.anthropic_messages.models import Habits, habits
from services.context.dialects.anthropic_messages.pictures import Picture, Pictures
from services.context.dialects.anthropic_messages.turns import (
    CACHE_CONTROL,
    Turn,
    alternated,
    assistant_turn,
    begun,
    dialogue_turns,
    message,
)
from services.context.dialects.generation import bounded
from services.context.dialects.offered_tools import offered_tools
from services.context.dialects.opening import reply_opening
from services.context.dialects.shown import Notes, media_places
from services.context.dialects.tool_results import answers
from services.context.failures import EveryImageFailed
from services.context.habits.endpoint import request_url
from services.context.habits.table import habits_of
from services.context.neutral.partition import Partitioned, partition
from services.context.neutral.sampling import sampling
from services.context.neutral.stops import MOST_STOPS, stop_strings
from services.context.rendered import NativeValue, Rendered
from services.context.tools.declaring import declare

MOST_OUTPUT_TOKENS = 8192
"""The longest reply where nobody says; Anthropic wants a number."""

_MANDATORY = frozenset({"model", "max_tokens", "messages", "stream", "system", "tools"})


def build(context: NeutralContext, target: Target) -> Rendered:
    """The request; raises EveryImageFailed when the dialogue has images and none can be shown.

    Only Anthropic itself is told what to cache.
    """
    row, model = habits_of(target), habits(target.model.codename)
    notes = Notes(places=media_places(context.items))
    said = partition(context.items)
    caches = target.provider == "anthropic"
    made = generation(context.options, sampling(context.options, target), model, notes)
    body: dict[str, NativeValue] = {
        "model": target.model.codename,
        "max_tokens": bounded(context.options, target, row, notes) or MOST_OUTPUT_TOKENS,
        "messages": [message(turn) for turn in _turns(context, said, target, model, notes, cached=caches)],
        "stream": True,
    }
    if said.system:
        text = "\n\n".join(said.system)
        body["system"] = [{"type": "text", "text": text, "cache_control": CACHE_CONTROL}] if caches else text
    body |= _tools(context, target, notes, cached=caches)
    body |= made.keys
    most = MOST_STOPS[target.provider]
    stops = stop_strings(context.options, most=most, with_speaker=row.speaker_stop, takes_blank=False)
    if stops.strings:
        body["stop_sequences"] = [*stops.strings]
    return Rendered(
        url=request_url(row, target.base_url),
        headers={"accept": "text/event-stream", **row.headers},
        body=body,
        warnings=(*notes.warnings, *stops.warnings),
        mandatory=_MANDATORY & body.keys(),
        added=made.unasked,
        skipped_images=tuple(notes.skipped),
    )


def _turns(
    context: NeutralContext, said: Partitioned, target: Target, model: Habits, notes: Notes, *, cached: bool
) -> list[Turn]:
    """The conversation in its order: dialogue, tool calls of this turn, and how the reply begins."""
    pictures = Pictures(_pictures(said.dialogue, context.function_history), notes, sees_images=target.model.sees_images)
    stable = last_stable(said.dialogue) if cached else None
    turns = dialogue_turns(said.dialogue, pictures, notes, stable)
    if pictures.failed and not pictures.shown:
        raise EveryImageFailed(pictures.failed)
    turns += exchange_turns(context.function_history, pictures, cached=cached)
    turns += assistant_turn(reply_opening(context, said.dialogue))
    return begun(alternated(turns), prefill=model.prefill)


def _pictures(dialogue: Sequence[StructuredContextItem], history: Sequence[FunctionExchange]) -> list[Picture]:
    """All pictures, in the order in which the turns have them."""
    said = [part for item in dialogue for part in item.parts]
    shown = [image for exchange in history for _, result in answers(exchange) if result for image in result.images]
    return [
        part
        for part in (*said, *shown)
        if isinstance(part, ImagePart) or (isinstance(part, OmittedPart) and part.medium == "image")
    ]


def _tools(context: NeutralContext, target: Target, notes: Notes, *, cached: bool) -> dict[str, NativeValue]:
    declared = declare(offered_tools(context, target.model, notes), target.dialect)
    notes.warnings += declared.warnings
    if not declared.native:
        return {}
    tools: list[NativeValue] = [{**tool} for tool in declared.native]
    if cached:
        tools[-1] = {**declared.native[-1], "cache_control": CACHE_CONTROL}
    return {"tools": tools}
