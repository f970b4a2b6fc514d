"""Google's generateContent streams: unnamed `data:` chunks with CRLF line ends and no end mark but a finish reason.

Shapes: https://ai.google.dev/api/generate-content and https://cloud.google.com/apis/design/errors.
"""

from collections.abc import Mapping

import msgspec
import orjson

from services.sandbox.provider.dialects.base import (
    BadRequestError,
    Dialect,
    Head,
    Part,
    bearer_key,
    pieces,
    read_as,
    sse,
)
from services.sandbox.provider.neutral import ChatMessage, Prompt, Usage
from services.sandbox.provider.script import ToolCall

_FINISH_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}
_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class _Content(msgspec.Struct):
    parts: list[Part]
    role: str = "user"


class _Request(msgspec.Struct, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None


def _text(content: _Content) -> str:
    return "\n".join(part.text for part in content.parts if part.text)


def _read(body: object, path_model: str) -> Prompt:
    request = read_as(body, _Request)
    system = request.system_instruction
    messages = [] if system is None else [ChatMessage("system", _text(system))]
    messages += [ChatMessage("assistant" if c.role == "model" else "user", _text(c)) for c in request.contents]
    return Prompt(path_model, tuple(messages))


def _error(status: int, message: str) -> dict[str, object]:
    name = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    return {"error": {"code": status, "message": message, "status": name}}


def _error_body(status: int, message: str) -> bytes:
    return orjson.dumps(_error(status, message), option=orjson.OPT_INDENT_2)


def _key(headers: Mapping[str, str]) -> str | None:
    """The key of the Gemini API, or the access token of Vertex AI."""
    return headers.get("x-goog-api-key") or bearer_key(headers)


def _check_envelope(_headers: Mapping[str, str], query: Mapping[str, str]) -> None:
    # Without it Google answers with a JSON array, which the sandbox does not play.
    if query.get("alt") != "sse":
        raise BadRequestError("The sandbox only streams server-sent events: add `?alt=sse`.")


class _Encoder:
    def __init__(self, head: Head) -> None:
        self._head = head
        self._malformed_call = False

    def text(self, delta: str) -> list[bytes]:
        return [self._chunk({"content": {"parts": [{"text": delta}], "role": "model"}})]

    def thinking(self, delta: str) -> list[bytes]:
        return [self._chunk({"content": {"parts": [{"text": delta, "thought": True}], "role": "model"}})]

    def tool_call(self, call: ToolCall) -> list[bytes]:
        try:
            arguments = msgspec.json.decode("".join(pieces(call.arguments)) or "{}", type=dict[str, object])
        except msgspec.DecodeError:
            self._malformed_call = True
            return []
        function: dict[str, object] = {"name": call.name, "args": arguments}
        if call.id is not None:
            function["id"] = call.id
        return [self._chunk({"content": {"parts": [{"functionCall": function}], "role": "model"}})]

    def finish(self, reason: str, usage: Usage) -> list[bytes]:
        native = "MALFORMED_FUNCTION_CALL" if self._malformed_call else _FINISH_REASONS.get(reason, reason)
        counts: dict[str, object] = {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens - usage.thinking_tokens,
            "thoughtsTokenCount": usage.thinking_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
        }
        candidate: dict[str, object] = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": native}
        if self._malformed_call:
            del candidate["content"]
        return [self._chunk(candidate, counts)]

    def error(self, status: int, message: str) -> bytes:
        return sse(_error(status, message), eol=b"\r\n")

    def ping(self) -> bytes:
        return b": ping\r\n\r\n"

    def _chunk(self, candidate: dict[str, object], counts: dict[str, object] | None = None) -> bytes:
        prompt = self._head.input_tokens
        chunk: dict[str, object] = {
            "candidates": [{**candidate, "index": 0}],
            "usageMetadata": counts or {"promptTokenCount": prompt, "totalTokenCount": prompt},
            "modelVersion": self._head.model,
            "responseId": f"sandbox-{self._head.number}",
        }
        return sse(chunk, eol=b"\r\n")


GOOGLE = Dialect(
    name="google",
    read=_read,
    encoder=_Encoder,
    error_body=_error_body,
    key=_key,
    check_envelope=_check_envelope,
    request_id_header="x-goog-request-id",
)
