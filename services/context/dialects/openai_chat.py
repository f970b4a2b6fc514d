"""OpenAI's chat completions, and the many servers that speak them.

https://platform.openai.com/docs/api-reference/chat/create
"""

from urllib.parse import urlsplit

from pydantic import JsonValue

from services.context.context import NeutralContext
from services.context.native import NativeRequest, endpoint

MOST_STOPS = 4
_PATH = "/chat/completions"
_OPENAI_HOST = "api.openai.com"


def build(context: NeutralContext, base_url: str) -> NativeRequest:
    """The request. `base_url` may be a server's root, its `/v1` (or another version's), or the whole path.

    OpenAI itself wants `max_completion_tokens`, which its reasoning models demand; other servers know `max_tokens`.
    """
    messages: list[JsonValue] = []
    if context.system:
        messages.append({"role": "system", "content": context.system})
    messages.extend({"role": turn.role, "content": turn.line} for turn in context.turns)
    official = urlsplit(base_url).hostname == _OPENAI_HOST
    body: dict[str, JsonValue] = {
        "model": context.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens" if official else "max_tokens": context.max_tokens,
    }
    if context.stop:
        body["stop"] = [*context.stop[:MOST_STOPS]]
    if context.temperature is not None:
        body["temperature"] = context.temperature
    return NativeRequest(endpoint(base_url, _PATH), {"accept": "text/event-stream"}, body)
