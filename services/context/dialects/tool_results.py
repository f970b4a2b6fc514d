"""Results of tools, as OpenAI-shaped requests have them: one text a call, and all images in one user turn after them."""

from pydantic import JsonValue

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, FunctionResult
from services.context.dialects.shown import Eyes, Notes, Piece, part_pieces
from services.context.json_text import json_text
from services.context.notices import file_name

NOT_ANSWERED: dict[str, JsonValue] = {"status": "not_answered"}
"""Stands for the result of a call that has none, since each call must have one."""


def arguments_text(call: FunctionCall) -> str:
    """A call's arguments; those that were cut off are told as none, since the call was not run."""
    return json_text({} if call.arguments_truncated else call.args)


def answers(exchange: FunctionExchange) -> list[tuple[FunctionCall, FunctionResult | None]]:
    """Each call with its result, in the calls' order; results of no call are left out."""
    left = list(exchange.results)
    pairs: list[tuple[FunctionCall, FunctionResult | None]] = []
    for call in exchange.calls:
        found = next((result for result in left if result.call_id == call.id), None)
        if found is not None:
            left.remove(found)
        pairs.append((call, found))
    return pairs


def response_text(result: FunctionResult | None) -> str:
    """A result as JSON, without its images."""
    return json_text(NOT_ANSWERED if result is None else result.response)


def image_pieces(exchange: FunctionExchange, place: str, eyes: Eyes, notes: Notes) -> list[Piece]:
    """The images of all results, each result's behind its note; empty if there are none."""
    out: list[Piece] = []
    for index, result in enumerate(exchange.results):
        if result.images:
            out.append(result.note or _returned(result))
            out += part_pieces(result.images, f"{place}.results[{index}].images", eyes, notes)
    return out


def _returned(result: FunctionResult) -> str:
    what = "image was" if len(result.images) == 1 else "images were"
    return f"[System: The following {what} returned by {file_name(result.name)}.]"
