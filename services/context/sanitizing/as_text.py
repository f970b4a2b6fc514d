"""Calls and their results as dialogue, for a model that takes no tools."""

from collections.abc import Iterable

from schemas.context import FunctionExchange, ImagePart, OmittedPart, StructuredContextItem, TextPart
from services.context.json_text import json_text

# Nothing of the turn at hand may be dropped as old history.
_TAG = "context_note_injection"


def exchanges_as_items(history: Iterable[FunctionExchange]) -> list[StructuredContextItem]:
    """What the model said before its calls, as the model's; the calls, their results and images as a user's."""
    items: list[StructuredContextItem] = []
    for exchange in history:
        if exchange.text.strip():
            items.append(StructuredContextItem(role="model", parts=(TextPart(text=exchange.text),), tag=_TAG))
        parts: list[TextPart | ImagePart | OmittedPart] = []
        for call, result in zip(exchange.calls, exchange.results, strict=True):
            told = (
                f"The tool {call.name} was called with {json_text(call.args)} and answered {json_text(result.response)}"
            )
            parts.append(TextPart(text=f"[System: {told}]"))
            if result.note:
                parts.append(TextPart(text=result.note))
            parts += result.images
        items.append(StructuredContextItem(role="user", parts=tuple(parts), tag=_TAG))
    return items
