"""Tool calls of this turn, said again: the model's turn as it was, the responses alone, then what else tools returned.

A user's turn with responses holds nothing else, since Vertex refuses responses beside text or images. Signatures:
https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from collections.abc import Sequence

from pydantic import JsonValue

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, FunctionResult
from services.context.dialects.google.contents import content
from services.context.dialects.google.media import Media, Part
from services.context.dialects.google.models import Habits
from services.context.dialects.tool_results import NOT_ANSWERED, answers
from services.context.rendered import NativeValue

FOREIGN_SIGNATURE = "skip_thought_signature_validator"
"""Stands where a call of another model has no signature; Google names it for that."""


def exchange_contents(history: Sequence[FunctionExchange], habits: Habits, media: Media) -> list[NativeValue]:
    """Two or three contents an exchange, each of which the target can read: see services.context.sanitizing."""
    contents: list[NativeValue] = []
    for index, exchange in enumerate(history):
        said: list[Part] = [{**part} for part in exchange.replay if not _is_empty(part)] or _said_anew(exchange, habits)
        contents.append(content("model", said))
        ids = [_id(part) for part in said if "functionCall" in part]
        responses: list[Part] = []
        shown: list[Part] = []
        for position, (call, result) in enumerate(answers(exchange)):
            responses.append(_response(call, result, ids[position]))
            if result is not None:
                place = f"function_history[{index}].results[{position}]"
                shown += _shown(result, place, media)
        contents.append(content("user", responses))
        if shown:
            contents.append(content("user", shown))
    return contents


def _said_anew(exchange: FunctionExchange, habits: Habits) -> list[Part]:
    parts: list[Part] = [{"text": exchange.text}] if exchange.text.strip() else []
    for position, call in enumerate(exchange.calls):
        part: Part = {"functionCall": {"name": call.name, "args": {**call.args}}}
        if call.thought_signature:
            part["thoughtSignature"] = call.thought_signature
        elif position == 0 and habits.wants_signatures:
            # Of calls that a model makes at once, the first alone is signed.
            part["thoughtSignature"] = FOREIGN_SIGNATURE
        parts.append(part)
    return parts


def _is_empty(part: dict[str, JsonValue]) -> bool:
    """Whether it says nothing, as the last text of a stream often does; Vertex refuses an empty text without a signature."""
    return part.get("text") == "" and "thoughtSignature" not in part


def _response(call: FunctionCall, result: FunctionResult | None, call_id: str | None) -> Part:
    response: dict[str, NativeValue] = {} if call_id is None else {"id": call_id}
    answer = NOT_ANSWERED if result is None else result.response
    return {"functionResponse": {**response, "name": call.name, "response": {**answer}}}


def _shown(result: FunctionResult, place: str, media: Media) -> list[Part]:
    parts: list[Part] = [{"text": result.note}] if result.note and result.note.strip() else []
    parts += [media.part(image, f"{place}.images[{index}]") for index, image in enumerate(result.images)]
    return parts


def _id(part: Part) -> str | None:
    """The call's id, if the provider gave one; ids that were made here would mean nothing to it."""
    call = part.get("functionCall")
    found = call.get("id") if isinstance(call, dict) else None
    return found if isinstance(found, str) and found else None
