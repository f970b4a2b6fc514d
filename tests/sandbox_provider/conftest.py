"""A running provider with its Python object, an HTTP client, and requests as each dialect's users send them."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from services.sandbox.provider.neutral import DialectName
from services.sandbox.provider.server import Address, SandboxConfig, SandboxProvider


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """A request as a dialect's users send it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def native(
    dialect: DialectName, *said: tuple[str, str] | str, model: str = "sandbox-echo", key: str = "sandbox-key"
) -> NativeRequest:
    """A conversation of (role, text) pairs; a bare text is the user's."""
    turns = [("user", turn) if isinstance(turn, str) else turn for turn in said]
    messages = [{"role": role, "content": text} for role, text in turns]
    match dialect:
        case "openai-chat":
            body = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
            return NativeRequest("/v1/chat/completions", {"authorization": f"Bearer {key}"}, body)
        case "openai-responses":
            body = {"model": model, "input": messages, "stream": True}
            return NativeRequest("/v1/responses", {"authorization": f"Bearer {key}"}, body)
        case "anthropic":
            headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
            body = {"model": model, "messages": messages, "stream": True, "max_tokens": 4096}
            return NativeRequest("/v1/messages", headers, body)
        case "google":
            names = {"assistant": "model", "user": "user"}
            contents = [{"role": names[role], "parts": [{"text": text}]} for role, text in turns]
            path = f"/v1beta/models/{model}:streamGenerateContent?alt=sse"
            return NativeRequest(path, {"x-goog-api-key": key}, {"contents": contents})


def payloads(body: str) -> list[dict[str, Any]]:
    """The JSON payloads of an SSE body."""
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client makes of a whole stream."""

    text: str
    thinking: str
    calls: list[tuple[str, dict[str, Any]]]
    finish_reason: str | None


def heard(dialect: DialectName, body: str) -> Heard:
    """Read a stream the way that dialect's documentation says."""
    text = thinking = ""
    reason = None
    names: list[str] = []
    arguments: list[str] = []
    for data in payloads(body):
        match dialect:
            case "openai-chat":
                for choice in data["choices"]:
                    text += choice["delta"].get("content") or ""
                    thinking += choice["delta"].get("reasoning_content") or ""
                    reason = choice["finish_reason"] or reason
                    for call in choice["delta"].get("tool_calls", []):
                        if "name" in call["function"]:
                            names.append(call["function"]["name"])
                            arguments.append("")
                        arguments[call["index"]] += call["function"]["arguments"]
            case "openai-responses":
                match data["type"]:
                    case "response.output_text.delta":
                        text += data["delta"]
                    case "response.reasoning_summary_text.delta":
                        thinking += data["delta"]
                    case "response.output_item.done" if data["item"]["type"] == "function_call":
                        names.append(data["item"]["name"])
                        arguments.append(data["item"]["arguments"])
                    case "response.completed" | "response.incomplete":
                        details = data["response"]["incomplete_details"]
                        reason = details["reason"] if details else data["response"]["status"]
            case "anthropic":
                delta = data.get("delta", {})
                text += delta.get("text", "")
                thinking += delta.get("thinking", "")
                reason = delta.get("stop_reason", reason)
                if data["type"] == "content_block_start" and data["content_block"]["type"] == "tool_use":
                    names.append(data["content_block"]["name"])
                    arguments.append("")
                if delta.get("type") == "input_json_delta":
                    arguments[-1] += delta["partial_json"]
            case "google":
                candidate = data["candidates"][0]
                reason = candidate.get("finishReason", reason)
                for part in candidate.get("content", {}).get("parts", []):
                    if "functionCall" in part:
                        names.append(part["functionCall"]["name"])
                        arguments.append(json.dumps(part["functionCall"]["args"]))
                    elif part.get("thought"):
                        thinking += part["text"]
                    else:
                        text += part["text"]
    calls = [(name, json.loads(given or "{}")) for name, given in zip(names, arguments, strict=True)]
    return Heard(text, thinking, calls, reason)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What a test needs of a running provider."""

    provider: SandboxProvider
    address: Address
    http: httpx.AsyncClient

    native = staticmethod(native)
    payloads = staticmethod(payloads)
    heard = staticmethod(heard)

    async def ask(self, request: NativeRequest) -> httpx.Response:
        """The whole answer."""
        return await self.http.post(request.path, json=request.body, headers=request.headers)

    def stream(self, request: NativeRequest):
        """The answer as a context, to be read or left."""
        return self.http.stream("POST", request.path, json=request.body, headers=request.headers)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    provider = SandboxProvider(SandboxConfig(pace_ms=0))
    address = await provider.start()
    async with httpx.AsyncClient(base_url=address.url, timeout=20) as http:
        yield Sandbox(provider, address, http)
    await provider.stop()


@pytest.fixture(params=["openai-chat", "openai-responses", "anthropic", "google"])
def dialect(request: pytest.FixtureRequest) -> DialectName:
    return request.param
