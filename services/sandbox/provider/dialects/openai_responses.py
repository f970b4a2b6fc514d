"""OpenAI's responses: named, numbered events, output items that open and close, and a terminal event with the whole.

Shapes: https://platform.openai.com/docs/api-reference/responses-streaming.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

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
from services.sandbox.provider.dialects.openai_chat import openai_error, openai_error_body
from services.sandbox.provider.neutral import ChatMessage, Prompt, Role, Usage
from services.sandbox.provider.script import ToolCall

_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class _Item(msgspec.Struct):
    role: str | None = None
    content: Content = None


class _Request(msgspec.Struct):
    model: str
    input: str | list[_Item]
    stream: bool = False
    instructions: str | None = None


def _read(body: object, _path_model: str) -> Prompt:
    request = read_as(body, _Request)
    if not request.stream:
        raise BadRequestError("The sandbox only streams: set `stream` to true.")
    messages = [ChatMessage("system", request.instructions)] if request.instructions else []
    if isinstance(request.input, str):
        messages.append(ChatMessage("user", request.input))
    else:
        messages += [
            ChatMessage(_ROLES.get(item.role, "tool"), content_text(item.content))
            for item in request.input
            if item.role is not None
        ]
    return Prompt(request.model, tuple(messages))


class _Encoder:
    def __init__(self, head: Head) -> None:
        self._head = head
        self._sequence = -1
        self._output: list[dict[str, object]] = []
        self._open: Literal["text", "thinking"] | None = None
        self._written: list[str] = []

    def text(self, delta: str) -> list[bytes]:
        events = self._item("text")
        self._written.append(delta)
        place = {**self._place("msg"), "content_index": 0}
        events.append(self._event("response.output_text.delta", {**place, "delta": delta, "logprobs": []}))
        return events

    def thinking(self, delta: str) -> list[bytes]:
        events = self._item("thinking")
        self._written.append(delta)
        place = {**self._place("rs"), "summary_index": 0}
        events.append(self._event("response.reasoning_summary_text.delta", {**place, "delta": delta}))
        return events

    def tool_call(self, call: ToolCall) -> list[bytes]:
        events = self._start() + self._close_item()
        place = self._place("fc")
        item: dict[str, object] = {
            "id": place["item_id"],
            "type": "function_call",
            "status": "in_progress",
            "call_id": call.id or f"call_sandbox_{self._head.number}_{len(self._output)}",
            "name": call.name,
            "arguments": "",
        }
        arguments = "".join(pieces(call.arguments))
        events.append(self._added(item))
        for piece in pieces(call.arguments):
            events.append(self._event("response.function_call_arguments.delta", {**place, "delta": piece}))
        events.append(self._event("response.function_call_arguments.done", {**place, "arguments": arguments}))
        events.append(self._done({**item, "status": "completed", "arguments": arguments}))
        return events

    def finish(self, reason: str, usage: Usage) -> list[bytes]:
        events = self._start() + self._close_item()
        counts: dict[str, object] = {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        }
        if reason in ("stop", "tool_calls"):
            response = self._response("completed", counts)
            events.append(self._event("response.completed", {"response": response}))
        else:
            response = self._response("incomplete", counts, _INCOMPLETE.get(reason, reason))
            events.append(self._event("response.incomplete", {"response": response}))
        return events

    def error(self, status: int, message: str) -> bytes:
        error = openai_error(status, message)
        return self._event("error", {"code": error["code"], "message": message, "param": None})

    def ping(self) -> bytes:
        return self._event("keepalive", {})

    def _item(self, kind: Literal["text", "thinking"]) -> list[bytes]:
        if self._open == kind:
            return []
        events = self._start() + self._close_item()
        self._open = kind
        if kind == "text":
            place = self._place("msg")
            events.append(self._added(self._message(place["item_id"], "in_progress", [])))
            part = {**place, "content_index": 0, "part": self._text_part("")}
            events.append(self._event("response.content_part.added", part))
        else:
            place = self._place("rs")
            events.append(self._added({"id": place["item_id"], "type": "reasoning", "summary": []}))
            part = {**place, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}
            events.append(self._event("response.reasoning_summary_part.added", part))
        return events

    def _close_item(self) -> list[bytes]:
        kind, self._open = self._open, None
        if kind is None:
            return []
        text = "".join(self._written)
        self._written.clear()
        if kind == "text":
            place = {**self._place("msg"), "content_index": 0}
            part = self._text_part(text)
            return [
                self._event("response.output_text.done", {**place, "text": text, "logprobs": []}),
                self._event("response.content_part.done", {**place, "part": part}),
                self._done(self._message(place["item_id"], "completed", [part])),
            ]
        place = {**self._place("rs"), "summary_index": 0}
        summary: dict[str, object] = {"type": "summary_text", "text": text}
        return [
            self._event("response.reasoning_summary_text.done", {**place, "text": text}),
            self._event("response.reasoning_summary_part.done", {**place, "part": summary}),
            self._done({"id": place["item_id"], "type": "reasoning", "summary": [summary]}),
        ]

    def _start(self) -> list[bytes]:
        if self._sequence >= 0:
            return []
        response = self._response("in_progress", None)
        return [
            self._event("response.created", {"response": response}),
            self._event("response.in_progress", {"response": response}),
        ]

    def _place(self, prefix: str) -> dict[str, object]:
        index = len(self._output)
        return {"item_id": f"{prefix}_sandbox_{self._head.number}_{index}", "output_index": index}

    def _added(self, item: dict[str, object]) -> bytes:
        return self._event("response.output_item.added", {"output_index": len(self._output), "item": item})

    def _done(self, item: dict[str, object]) -> bytes:
        event = self._event("response.output_item.done", {"output_index": len(self._output), "item": item})
        self._output.append(item)
        return event

    def _message(self, name: object, status: str, content: list[dict[str, object]]) -> dict[str, object]:
        return {"id": name, "type": "message", "status": status, "content": content, "role": "assistant"}

    def _text_part(self, text: str) -> dict[str, object]:
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}

    def _response(
        self, status: str, usage: dict[str, object] | None, incomplete: str | None = None
    ) -> dict[str, object]:
        return {
            "id": f"resp_sandbox_{self._head.number}",
            "object": "response",
            "created_at": self._head.created,
            "status": status,
            "error": None,
            "incomplete_details": None if incomplete is None else {"reason": incomplete},
            "instructions": None,
            "metadata": {},
            "model": self._head.model,
            "output": list(self._output),
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage,
        }

    def _event(self, name: str, data: dict[str, object]) -> bytes:
        self._sequence += 1
        return sse({"type": name, "sequence_number": self._sequence, **data}, name)


OPENAI_RESPONSES = Dialect(
    name="openai-responses",
    read=_read,
    encoder=_Encoder,
    error_body=openai_error_body,
    key=bearer_key,
    check_envelope=any_envelope,
    request_id_header="x-request-id",
)
