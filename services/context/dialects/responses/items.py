"""Tool calls as input items, and pieces of dialogue as parts.

https://platform.openai.com/docs/api-reference/responses/create
"""

from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from schemas.context import FunctionExchange
from services.context.dialects.messages import assistant_message, user_message
from services.context.dialects.shown import Clip, Eyes, Notes, Picture, Piece
from services.context.dialects.tool_results import answers, arguments_text, image_pieces, response_text
from services.context.rendered import NativeValue

Item = dict[str, NativeValue]


def exchange_items(history: Sequence[FunctionExchange], eyes: Eyes, notes: Notes) -> list[Item]:
    """The items of all exchanges: reasoning, text and calls of the model, then outputs, then a user's turn with images.

    Each exchange must be one that the target may be shown: with ids and reasoning that it knows.
    """
    out: list[Item] = []
    for index, exchange in enumerate(history):
        out += [_reasoning(one) for one in exchange.replay if _goes_back(one)]
        out += assistant_message(exchange.text)
        for call in exchange.calls:
            called: Item = {"type": "function_call", "call_id": call.id, "name": call.name}
            out.append(called | {"arguments": arguments_text(call)})
        for call, result in answers(exchange):
            out.append({"type": "function_call_output", "call_id": call.id, "output": response_text(result)})
        if pieces := image_pieces(exchange, f"function_history[{index}]", eyes, notes):
            out.append(user_message(pieces, part))
    return out


def _goes_back(part: dict[str, JsonValue]) -> bool:
    """Reasoning that the provider can read again; since it keeps nothing, an item's id alone would not be found.

    https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
    """
    return part.get("type") == "reasoning" and bool(part.get("encrypted_content") or part.get("content"))


def _reasoning(part: dict[str, JsonValue]) -> Item:
    # A null is refused where a missing key is not.
    return {"summary": [], **{key: value for key, value in part.items() if value is not None}}


def part(piece: Piece) -> NativeValue:
    """A piece as a part of a message's content."""
    match piece:
        case str():
            return {"type": "input_text", "text": piece}
        case Picture():
            return {"type": "input_image", "image_url": piece.url, "detail": "auto"}
        case Clip():
            raise ValueError("the responses API takes no videos")
        case _:
            assert_never(piece)
