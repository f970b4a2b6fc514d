"""Dialogue and tool calls as input items.

https://platform.openai.com/docs/api-reference/responses/create
"""

from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from schemas.context import FunctionExchange, StructuredContextItem, TextPart
from services.context.dialects.shown import Clip, Eyes, Notes, Picture, Piece, item_pieces
from services.context.dialects.tool_results import answers, arguments_text, image_pieces, response_text
from services.context.rendered import NativeValue

Item = dict[str, NativeValue]


def dialogue_items(dialogue: Sequence[StructuredContextItem], eyes: Eyes, notes: Notes) -> list[Item]:
    """One message an item that says something. Media must have been moved off the model's items."""
    out: list[Item] = []
    for item in dialogue:
        if item.role == "model":
            out += assistant_item("\n".join(part.text for part in item.parts if isinstance(part, TextPart)))
        elif pieces := item_pieces(item, eyes, notes):
            out.append({"role": "user", "content": _content(pieces)})
    return out


def assistant_item(text: str) -> list[Item]:
    """The model's text as a message, or nothing if it is blank."""
    return [{"role": "assistant", "content": text}] if text.strip() else []


def exchange_items(history: Sequence[FunctionExchange], eyes: Eyes, notes: Notes) -> list[Item]:
    """The items of all exchanges: reasoning, text and calls of the model, then outputs, then a user's turn with images.

    Each exchange must be one that the target may be shown: with ids and reasoning that it knows.
    """
    out: list[Item] = []
    for index, exchange in enumerate(history):
        out += [_reasoning(part) for part in exchange.replay if _goes_back(part)]
        out += assistant_item(exchange.text)
        for call in exchange.calls:
            called: Item = {"type": "function_call", "call_id": call.id, "name": call.name}
            out.append(called | {"arguments": arguments_text(call)})
        for call, result in answers(exchange):
            out.append({"type": "function_call_output", "call_id": call.id, "output": response_text(result)})
        if pieces := image_pieces(exchange, f"function_history[{index}]", eyes, notes):
            out.append({"role": "user", "content": _content(pieces)})
    return out


def _goes_back(part: dict[str, JsonValue]) -> bool:
    """Reasoning that the provider can read again; since it keeps nothing, an item's id alone would not be found.

    https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
    """
    return part.get("type") == "reasoning" and bool(part.get("encrypted_content") or part.get("content"))


def _reasoning(part: dict[str, JsonValue]) -> Item:
    # A null is refused where a missing key is not.
    return {"summary": [], **{key: value for key, value in part.items() if value is not None}}


def _content(pieces: Sequence[Piece]) -> NativeValue:
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return "\n".join(texts) if len(texts) == len(pieces) else [_part(piece) for piece in pieces]


def _part(piece: Piece) -> NativeValue:
    match piece:
        case str():
            return {"type": "input_text", "text": piece}
        case Picture():
            return {"type": "input_image", "image_url": piece.url, "detail": "auto"}
        case Clip():
            raise ValueError("the responses API takes no videos")
        case _:
            assert_never(piece)
