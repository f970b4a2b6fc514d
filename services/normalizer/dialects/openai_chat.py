"""OpenAI's chat completions, as some thirty providers speak it.

The format: https://platform.openai.com/docs/api-reference/chat-streaming. What differs between providers is read by its
shape, never by the provider's name: reasoning under several names (chat_reasoning), content as a list of parts
(https://docs.mistral.ai/capabilities/reasoning), usage in a chunk without choices, on every chunk, inside a choice or
under `x_groq`, tools that the provider ran itself (https://console.groq.com/docs/compound), a whole `message` in place of
deltas from a server that cannot stream.
"""

from typing import Any

from schemas.chunks import ServerToolCall
from services.normalizer.decode import UNREADABLE, is_array, is_object, merged, word, written
from services.normalizer.dialects import chat_ends
from services.normalizer.dialects.chat_reasoning import Reasoning
from services.normalizer.dialects.chat_tools import ToolSlots
from services.normalizer.dialects.chat_usage import usage_report
from services.normalizer.dialects.chat_wire import CHUNK, Choice, Chunk, Delta
from services.normalizer.dialects.odd_events import read_odd, tells_refusal
from services.normalizer.errors import event_error
from services.normalizer.errors.families import Family
from services.normalizer.events import EndMark, Event, Failed, Served, Start, TextDelta
from services.normalizer.sse_event import SseEvent

_STRICT = CHUNK.strict


class OpenAIChat:
    """Reads one chat completion stream; only choice 0 counts."""

    def __init__(self, family: Family, *, read_details: bool = True) -> None:
        """`family`: whose rules for errors hold.

        `read_details`: readable text that comes in `reasoning_details` alone is thinking; the SDK passes over it.
        """
        self.finished = False
        self._family = family
        self._model = ""
        self._response_id = ""
        self._provider = ""
        self._streams = False
        self._usage: dict[str, Any] | None = None
        self._reasoning = Reasoning(read_details=read_details)
        self._tools = ToolSlots()
        self._executed: dict[str, ServerToolCall] = {}

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        if event.data == b"[DONE]":
            out.append(EndMark())
            return
        chunk: Chunk | None
        try:
            chunk = _STRICT(event.data)
        except UNREADABLE:
            if event.data.strip() == b"[DONE]":
                out.append(EndMark())
                return
            chunk = CHUNK.fitted(event.data)
        if chunk is None or event.name == b"error":
            read_odd(event, out, self._family)
            return
        if (chunk.model and chunk.model != self._model) or (chunk.id and not self._response_id):
            self._model = chunk.model or self._model
            self._response_id = self._response_id or chunk.id or ""
            out.append(Start(self._model, self._response_id))
        if chunk.provider and not self._provider:
            self._provider = chunk.provider
            out.append(Served(chunk.provider))
        if chunk.usage:
            self._count(chunk.usage)
        if chunk.x_groq is not None:
            self._count(chunk.x_groq.usage)
        if chunk.error or chunk.kind == "error" or (chunk.choices is None and tells_refusal(event)):
            read_odd(event, out, self._family)
            return
        failure: Failed | None = None
        for choice in chunk.choices or ():
            if not choice.index:
                if choice.delta is not None:
                    self._streams = True
                    self._read_delta(choice.delta, out)
                elif choice.message is not None and not self._streams:
                    self._read_delta(choice.message, out)
                if choice.finish_reason or choice.usage or choice.error:
                    failure = self._read_end(choice, out) or failure
        if chunk.x_groq is not None and chunk.x_groq.error:
            failure = Failed(event_error({"error": chunk.x_groq.error}, event.data, self._family))
        if failure is not None:
            out.append(failure)

    def close(self, out: list[Event]) -> None:
        """Append what is complete only now: reasoning to send back, tools that were run, the usage."""
        out.extend(self._reasoning.parts())
        out.extend(self._executed.values())
        if self._usage is not None:
            out.append(usage_report(self._usage))

    def _read_end(self, choice: Choice, out: list[Event]) -> Failed | None:
        if choice.usage:
            self._count(choice.usage)
        if choice.error:
            return Failed(event_error(choice.error, written(choice.error), self._family))
        raw = choice.finish_reason
        if raw and raw != "null":
            self.finished = True
            out.append(chat_ends.finish(raw))
        return None

    def _read_delta(self, delta: Delta, out: list[Event]) -> None:
        if (
            delta.reasoning_content
            or delta.reasoning
            or delta.reasoning_details
            or delta.reasoning_text
            or delta.thinking
            or delta.thinking_blocks
        ):
            self._reasoning.read(delta, out)
        content = delta.content
        if content:
            if isinstance(content, str):
                out.append(TextDelta(content))
            elif is_array(content):
                for part in content:
                    self._read_part(part, out)
            else:
                self._read_part(content, out)
        if delta.tool_calls:
            self._tools.read(delta.tool_calls, out)
        if delta.refusal:
            out.append(TextDelta(delta.refusal))
        if delta.function_call:
            self._tools.read_legacy(delta.function_call, out)
        if delta.executed_tools:
            for tool in delta.executed_tools:
                self._note_executed(tool)

    def _read_part(self, part: object, out: list[Event]) -> None:
        """A part of a content list: text, or reasoning whose own parts are text."""
        if is_object(part) and part.get("type") in ("thinking", "reasoning"):
            self._reasoning.read_part(part, out)
            return
        text = part if isinstance(part, str) else word(part, "text")
        if text:
            out.append(TextDelta(text))

    def _note_executed(self, tool: object) -> None:
        """A tool that the provider ran; told again when its output is there."""
        if is_object(tool):
            position = f"{tool.get('index')}"
            kind = word(tool, "type")
            self._executed[position] = ServerToolCall(
                id=word(tool, "id"), type=kind, name=word(tool, "name") or kind, args=tool.get("arguments")
            )

    def _count(self, usage: object) -> None:
        if is_object(usage):
            self._usage = merged(self._usage, usage)
