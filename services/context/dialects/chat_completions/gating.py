"""A router's knowledge of its models: keys that a model is known not to take go, and the reply gets what room is left.

https://openrouter.ai/docs/api-reference/parameters lists the names of `supported_parameters`.
"""

from collections.abc import Iterable
from typing import cast

from services.catalog.target import ModelFacts
from services.context.dialects.shown import Notes
from services.context.json_text import json_text
from services.context.rendered import NativeValue

SAFE_SHARE = 0.9
LEAST_REPLY = 256
_CHARACTERS_PER_TOKEN = 4
_GATED = (
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "min_p",
    "logit_bias",
    "stop",
    "reasoning",
)


def known_only(body: dict[str, NativeValue], model: ModelFacts, defaulted: Iterable[str], notes: Notes) -> None:
    """Take out of the body what the model is known not to take, with a warning unless it is among `defaulted`.

    Tools stay: whether a model can call them is a capability of its own.
    """
    if model.supported_parameters is None:
        return
    unasked = {*defaulted}
    for key in [key for key in _GATED if key in body and key not in model.supported_parameters]:
        del body[key]
        if key not in unasked:
            notes.warn("parameter_dropped", f"body.{key}", "the model does not take it")


def room_for_reply(body: dict[str, NativeValue], model: ModelFacts, *, asked: bool, notes: Notes) -> None:
    """Cut the reply's bound to what the context leaves of the window; `asked`: the user set it, so a cut is warned of.

    Pictures count nothing here: nobody can say in advance what they cost.
    """
    length = body.get("max_tokens")
    if not isinstance(length, int) or model.context_window is None:
        return
    left = model.context_window - -(-_characters(body) // _CHARACTERS_PER_TOKEN)
    room = max(1, int(left * SAFE_SHARE))
    least = min(LEAST_REPLY, model.max_output_tokens or LEAST_REPLY)
    if room < least <= left:
        room = least
    if room < length:
        body["max_tokens"] = room
        if asked:
            notes.warn("parameter_clamped", "options.max_output_tokens", f"the context leaves {room} tokens")


def _characters(body: dict[str, NativeValue]) -> int:
    """Characters of all texts, calls, results and tools."""
    total = len(json_text({"tools": body["tools"]})) if "tools" in body else 0
    for message in cast("list[dict[str, NativeValue]]", body["messages"]):
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        for part in cast("list[dict[str, NativeValue]]", parts):
            text = part.get("text")
            total += len(text) if isinstance(text, str) else 0
        for call in cast("list[dict[str, dict[str, str]]]", message.get("tool_calls") or []):
            total += len(call["function"]["arguments"])
    return total
