"""OpenAI's chat completions: unnamed `data:` chunks and a closing `[DONE]`.

Shapes: https://platform.openai.com/docs/api-reference/chat-streaming. Thinking is sent as `reasoning_content`, as
DeepSeek, xAI and most compatible servers do, since OpenAI's own chat has none.
"""

from collections.abc import Mapping

import msgspec
import orjson

from services.sandbox.provider.dialects.base import (
    BadRequestError,
    Content,
    Dialect,
    Head,
    any_envelope,
    bearer_key,
    content_text,
    pieces,
    read_as,
    sse,
)
from services.sandbox.provider.neutral import ChatMessage, Prompt, Role, Usage
from services.sandbox.provider.script import ToolCall

_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class _Message(msgspec.Struct):
    role: str
    content: Content = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Request(msgspec.Struct):
    model: str
    messages: list[_Message]
    stream: bool = False
    stream_options: _StreamOptions | None = None


def _read(body: object, _path_model: str) -> Prompt:
    request = read_as(body, _Request)
    if not request.stream:
        raise BadRequestError("The sandbox only streams: set `stream` to true.")
    messages = tuple(ChatMessage(_ROLES.get(m.role, "tool"), content_text(m.content)) for m in request.messages)
    return Prompt(request.model, messages, request.stream_options is not None and request.stream_options.include_usage)


def openai_error(status: int, message: str) -> dict[str, object]:
    """The error object that OpenAI's chat and responses share; https://platform.openai.com/docs/guides/error-codes."""
    kind, code = {
        401: ("invalid_request_error", "invalid_api_key"),
        404: ("invalid_request_error", "model_not_found"),
        429: ("requests", "rate_limit_exceeded"),
    }.get(status, ("invalid_request_error", None) if status < 500 else ("server_error", "server_error"))
    return {"message": message, "type": kind, "param": None, "code": code}


def openai_error_body(status: int, message: str) -> bytes:
    """The body of an HTTP error in OpenAI's dialects."""
    return orjson.dumps({"error": openai_error(status, message)})


class _Encoder:
    def __init__(self, head: Head) -> None:
        self._wants_usage = head.wants_usage
        self._base: dict[str, object] = {
            "id": f"chatcmpl-sandbox-{head.number}",
            "object": "chat.completion.chunk",
            "created": head.created,
            "model": head.model,
            "system_fingerprint": "fp_sandbox",
        }
        self._number = head.number
        self._calls = 0
        self._opened = False

    def text(self, delta: str) -> list[bytes]:
        return self._delta({"content": delta})

    def thinking(self, delta: str) -> list[bytes]:
        return self._delta({"reasoning_content": delta})

    def tool_call(self, call: ToolCall) -> list[bytes]:
        index = self._calls
        self._calls += 1
        opening: dict[str, object] = {
            "index": index,
            "id": call.id or f"call_sandbox_{self._number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }
        events = self._delta({"tool_calls": [opening]})
        for piece in pieces(call.arguments):
            events += self._delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        return events

    def finish(self, reason: str, usage: Usage) -> list[bytes]:
        events = self._opening()
        events.append(self._chunk([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": reason}]))
        if self._wants_usage:
            counts: dict[str, object] = {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "total_tokens": usage.input_tokens + usage.output_tokens,
                "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
            }
            events.append(sse({**self._base, "choices": [], "usage": counts}))
        events.append(b"data: [DONE]\n\n")
        return events

    def error(self, status: int, message: str) -> bytes:
        return sse({"error": openai_error(status, message)})

    def ping(self) -> bytes:
        return b": ping\n\n"

    def _opening(self) -> list[bytes]:
        if self._opened:
            return []
        self._opened = True
        delta: dict[str, object] = {"role": "assistant", "content": ""}
        return [self._chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}])]

    def _delta(self, delta: dict[str, object]) -> list[bytes]:
        events = self._opening()
        events.append(self._chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]))
        return events

    def _chunk(self, choices: list[dict[str, object]]) -> bytes:
        chunk = {**self._base, "choices": choices}
        return sse({**chunk, "usage": None} if self._wants_usage else chunk)


OPENAI_CHAT = Dialect(
    name="openai-chat",
    read=_read,
    encoder=_Encoder,
    error_body=openai_error_body,
    key=bearer_key,
    check_envelope=any_envelope,
    request_id_header="x-request-id",
)
