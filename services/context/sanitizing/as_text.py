"""Calls and their results as dialogue, for a model that takes no tools or writes its calls as text."""

from collections.abc import Iterable

from schemas.context import FunctionExchange, ImagePart, OmittedPart, StructuredContextItem, TextPart
from services.context.json_text import json_text
from services.context.tools.written_out import call_text

# Nothing of the turn at hand may be dropped as old history.
_TAG = "context_note_injection"


def exchanges_as_items(history: Iterable[FunctionExchange], *, written_out: bool) -> list[StructuredContextItem]:
    """What the model said before its calls, as the model's; the calls, their results and images as a user's.

    `written_out`: the calls are the model's own words, too.
    """
    items: list[StructuredContextItem] = []
    for exchange in history:
        said = [exchange.text] if exchange.text.strip() else []
        if written_out:
            said += map(call_text, exchange.calls)
        if said:
            items.append(StructuredContextItem(role="model", parts=(TextPart(text="\n".join(said)),), tag=_TAG))
        parts: list[TextPart | ImagePart | OmittedPart] = []
        for call, result in zip(exchange.calls, exchange.results, strict=True):
            called = "" if written_out else f" was called with {json_text(call.args)} and"
            told = f"The tool {call.name}{called} answered {json_text(result.response)}"
            parts.append(TextPart(text=f"[System: {told}]"))
            if result.note:
                parts.append(TextPart(text=result.note))
            parts += result.images
        items.append(StructuredContextItem(role="user", parts=tuple(parts), tag=_TAG))
    return items
