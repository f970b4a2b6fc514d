"""OpenAI's chat completions, as some thirty providers speak it.

The format: https://platform.openai.com/docs/api-reference/chat-streaming. What differs between providers is read by its
shape, never by the provider's name: reasoning under three names (https://openrouter.ai/docs/use-cases/reasoning-tokens,
https://api-docs.deepseek.com/guides/reasoning_model), content as a list of parts
(https://docs.mistral.ai/capabilities/reasoning), usage in a chunk without choices, on every chunk, inside a choice or
under `x_groq`.
"""

import msgspec

from schemas.chunks import FinishReason
from services.normalizer.decode import UNREADABLE, PayloadDecoder, is_array, is_object, loads
from services.normalizer.dialects.chat_reasoning import ReasoningDetails
from services.normalizer.dialects.chat_tools import FunctionPart, ToolPart, ToolSlots
from services.normalizer.errors import event_error, stream_error
from services.normalizer.events import (
    EndMark,
    Event,
    Failed,
    Finish,
    Served,
    Start,
    TextDelta,
    ThinkingDelta,
    UsageReport,
)
from services.normalizer.sse import SseEvent

_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
}


class _PromptDetails(msgspec.Struct, gc=False):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _CompletionDetails(msgspec.Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _VendorUsage(msgspec.Struct, gc=False):
    usage: _Usage | None = None


class _Delta(msgspec.Struct):
    content: object = None
    reasoning_content: object = None
    reasoning: object = None
    reasoning_details: list[object] | None = None
    refusal: str | None = None
    tool_calls: list[ToolPart] | None = None
    function_call: FunctionPart | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    finish_reason: str | None = None
    usage: _Usage | None = None
    error: object = None


class _Chunk(msgspec.Struct):
    id: str | None = None
    kind: str | None = msgspec.field(name="object", default=None)
    model: str | None = None
    provider: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    x_groq: _VendorUsage | None = None
    error: object = None
    message: object = None


_CHUNK = PayloadDecoder(_Chunk)


class OpenAIChat:
    """Reads one chat completion stream; only choice 0 counts."""

    def __init__(self) -> None:
        self._model = ""
        self._response_id = ""
        self._provider = ""
        self._plain_reasoning = False
        self._details = ReasoningDetails()
        self._tools = ToolSlots()

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        data = event.data
        if data == b"[DONE]" or (data[:1] != b"{" and data.strip() == b"[DONE]"):
            out.append(EndMark())
            return
        chunk = _CHUNK.decode(data)
        if chunk is None or event.name == b"error":
            self._read_odd(event, out)
            return
        if chunk.model and chunk.model != self._model:
            self._model = chunk.model
            out.append(Start(model=chunk.model))
        if chunk.id and not self._response_id:
            self._response_id = chunk.id
            out.append(Start(response_id=chunk.id))
        if chunk.provider and not self._provider:
            self._provider = chunk.provider
            out.append(Served(chunk.provider))
        usage = chunk.usage or (chunk.x_groq.usage if chunk.x_groq else None)
        if usage:
            out.append(_report(usage))
        if chunk.error or chunk.kind == "error" or (chunk.choices is None and isinstance(chunk.message, str)):
            self._read_odd(event, out)
            return
        for choice in chunk.choices or ():
            if not choice.index:
                self._read_choice(choice, out)

    def close(self, out: list[Event]) -> None:
        """Append the reasoning details, which are complete only now."""
        out.extend(self._details.parts())

    def _read_odd(self, event: SseEvent, out: list[Event]) -> None:
        """An error, or a payload that is no JSON object."""
        data = event.data.strip()
        try:
            payload = loads(data) if data else None
        except UNREADABLE:
            payload = event.data.decode("utf-8", "replace") if event.name == b"error" else None
            if payload is None:
                text = event.data.decode("utf-8", "replace")
                out.append(Failed(stream_error("malformed_event", "an event holds no JSON", original=text)))
                return
        if is_object(payload) or isinstance(payload, str):
            out.append(Failed(event_error(payload, event.data)))

    def _read_choice(self, choice: _Choice, out: list[Event]) -> None:
        if choice.delta is not None:
            self._read_delta(choice.delta, out)
        if choice.usage:
            out.append(_report(choice.usage))
        if choice.error:
            payload = choice.error
            out.append(Failed(event_error(payload, msgspec.json.encode(payload))))
        elif choice.finish_reason:
            out.append(Finish(_FINISHES.get(choice.finish_reason.lower()), choice.finish_reason))

    def _read_delta(self, delta: _Delta, out: list[Event]) -> None:
        details = delta.reasoning_details
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning or details:
            self._read_reasoning(reasoning, details or [], out)
        content = delta.content
        if isinstance(content, str):
            if content:
                out.append(TextDelta(content))
        elif is_array(content):
            for part in content:
                _read_part(part, out)
        if delta.refusal:
            out.append(TextDelta(delta.refusal))
        if delta.tool_calls:
            self._tools.read(delta.tool_calls, out)
        if delta.function_call:
            self._tools.read_legacy(delta.function_call, out)

    def _read_reasoning(self, reasoning: object, details: list[object], out: list[Event]) -> None:
        """One channel: the details repeat a plain field where there is one, so then they are only kept for replay."""
        text, kind = self._details.add(details)
        if reasoning and isinstance(reasoning, str):
            self._plain_reasoning = True
            text = reasoning
        elif self._plain_reasoning:
            return
        if text:
            out.append(ThinkingDelta(text, kind))


def _read_part(part: object, out: list[Event]) -> None:
    """A part of a content list: text, or thinking whose own parts are text."""
    if isinstance(part, str):
        if part:
            out.append(TextDelta(part))
        return
    if not is_object(part):
        return
    if part.get("type") == "thinking":
        thinking = part.get("thinking")
        pieces = thinking if is_array(thinking) else [thinking]
        for piece in pieces:
            text: object = piece.get("text") if is_object(piece) else piece
            if isinstance(text, str) and text:
                out.append(ThinkingDelta(text))
        return
    text = part.get("text")
    if isinstance(text, str) and text:
        out.append(TextDelta(text))


def _report(usage: _Usage) -> UsageReport:
    prompt = usage.prompt_tokens_details
    completion = usage.completion_tokens_details
    cached = prompt.cached_tokens if prompt else None
    return UsageReport(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=usage.prompt_cache_hit_tokens if cached is None else cached,
        cache_write_tokens=prompt.cache_write_tokens if prompt else None,
        reasoning_tokens=completion.reasoning_tokens if completion else None,
        total_tokens=usage.total_tokens,
    )
