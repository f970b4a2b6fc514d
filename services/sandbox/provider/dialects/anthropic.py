"""Anthropic's messages: named events, content blocks that open and stop, and `message_stop` as the end mark.

Shapes: https://docs.anthropic.com/en/docs/build-with-claude/streaming and https://docs.anthropic.com/en/api/errors.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
import orjson

from services.sandbox.provider.dialects.base import (
    BadRequestError,
    Content,
    Dialect,
    Head,
    bearer_key,
    content_text,
    pieces,
    read_as,
    sse,
)
from services.sandbox.provider.neutral import ChatMessage, Prompt, Usage
from services.sandbox.provider.script import ToolCall

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class _Message(msgspec.Struct):
    role: Literal["user", "assistant"]
    content: Content


class _Request(msgspec.Struct):
    model: str
    messages: list[_Message]
    max_tokens: int
    stream: bool = False
    system: Content = None


def _read(body: object, _path_model: str) -> Prompt:
    request = read_as(body, _Request)
    if not request.stream:
        raise BadRequestError("The sandbox only streams: set `stream` to true.")
    system = content_text(request.system)
    messages = [ChatMessage("system", system)] if system else []
    messages += [ChatMessage(m.role, content_text(m.content)) for m in request.messages]
    return Prompt(request.model, tuple(messages))


def _error(status: int, message: str) -> dict[str, object]:
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _error_body(status: int, message: str) -> bytes:
    return orjson.dumps(_error(status, message))


def _key(headers: Mapping[str, str]) -> str | None:
    # Anthropic takes both; its SDK sends the key as a bearer since version 2.
    return headers.get("x-api-key") or bearer_key(headers)


def _check_envelope(headers: Mapping[str, str], _query: Mapping[str, str]) -> None:
    if "anthropic-version" not in headers:
        raise BadRequestError("anthropic-version: header is required")


class _Encoder:
    def __init__(self, head: Head) -> None:
        self._head = head
        self._index = -1
        self._open: Literal["text", "thinking"] | None = None
        self._started = False

    def text(self, delta: str) -> list[bytes]:
        events = self._block("text", {"type": "text", "text": ""})
        events.append(self._delta({"type": "text_delta", "text": delta}))
        return events

    def thinking(self, delta: str) -> list[bytes]:
        events = self._block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        events.append(self._delta({"type": "thinking_delta", "thinking": delta}))
        return events

    def tool_call(self, call: ToolCall) -> list[bytes]:
        events = self._start() + self._stop_block()
        name = call.id or f"toolu_sandbox_{self._head.number}_{self._index + 1}"
        events.append(self._start_block({"type": "tool_use", "id": name, "name": call.name, "input": {}}))
        events += [self._delta({"type": "input_json_delta", "partial_json": p}) for p in pieces(call.arguments)]
        events.append(self._event("content_block_stop", {"index": self._index}))
        return events

    def finish(self, reason: str, usage: Usage) -> list[bytes]:
        delta = {"stop_reason": _STOP_REASONS.get(reason, reason), "stop_sequence": None}
        counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        return [
            *self._start(),
            *self._stop_block(),
            self._event("message_delta", {"delta": delta, "usage": counts}),
            self._event("message_stop", {}),
        ]

    def error(self, status: int, message: str) -> bytes:
        return sse(_error(status, message), "error")

    def ping(self) -> bytes:
        return self._event("ping", {})

    def _start(self) -> list[bytes]:
        if self._started:
            return []
        self._started = True
        message: dict[str, object] = {
            "id": f"msg_sandbox_{self._head.number}",
            "type": "message",
            "role": "assistant",
            "model": self._head.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self._head.input_tokens, "output_tokens": 1},
        }
        return [self._event("message_start", {"message": message})]

    def _block(self, kind: Literal["text", "thinking"], block: dict[str, object]) -> list[bytes]:
        if self._open == kind:
            return []
        events = self._start() + self._stop_block()
        events.append(self._start_block(block))
        self._open = kind
        return events

    def _start_block(self, block: dict[str, object]) -> bytes:
        self._index += 1
        return self._event("content_block_start", {"index": self._index, "content_block": block})

    def _stop_block(self) -> list[bytes]:
        if self._open is None:
            return []
        signed = self._open == "thinking"
        self._open = None
        events = [self._delta({"type": "signature_delta", "signature": "c2FuZGJveA=="})] if signed else []
        events.append(self._event("content_block_stop", {"index": self._index}))
        return events

    def _delta(self, delta: dict[str, object]) -> bytes:
        return self._event("content_block_delta", {"index": self._index, "delta": delta})

    def _event(self, name: str, data: dict[str, object]) -> bytes:
        return sse({"type": name, **data}, name)


ANTHROPIC = Dialect(
    name="anthropic",
    read=_read,
    encoder=_Encoder,
    error_body=_error_body,
    key=_key,
    check_envelope=_check_envelope,
    request_id_header="request-id",
)
