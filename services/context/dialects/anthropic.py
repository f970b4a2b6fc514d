"""Anthropic's messages.

https://docs.anthropic.com/en/api/messages
"""

from itertools import groupby

from pydantic import JsonValue

from services.context.context import NeutralContext
from services.context.native import NativeRequest, endpoint

VERSION = "2023-06-01"
OPENING = "[System: The conversation began before this.]"
_PATH = "/messages"


def build(context: NeutralContext, base_url: str) -> NativeRequest:
    """The request. `base_url` may be a server's root, its `/v1`, or the whole path.

    Roles alternate and a user's comes first: turns of one role become one message. A stop sequence of blanks alone is
    refused by Anthropic, so it is left out; so is a temperature above 1, which becomes 1.
    """
    messages: list[JsonValue] = []
    for role, turns in groupby(context.turns, key=lambda turn: turn.role):
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": OPENING})
        messages.append({"role": role, "content": "\n".join(turn.line for turn in turns)})
    body: dict[str, JsonValue] = {
        "model": context.model,
        "max_tokens": context.max_tokens,
        "messages": messages,
        "stream": True,
    }
    if context.system:
        body["system"] = context.system
    if stops := [text for text in context.stop if text.strip()]:
        body["stop_sequences"] = [*stops]
    if context.temperature is not None:
        body["temperature"] = min(context.temperature, 1.0)
    return NativeRequest(endpoint(base_url, _PATH), {"accept": "text/event-stream", "anthropic-version": VERSION}, body)
