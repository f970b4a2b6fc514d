"""OpenAI's responses stream: items that open, grow and close, then the whole response once more.

https://platform.openai.com/docs/api-reference/responses-streaming. Event names repeat the payload's `type`, so only the
payload counts. Items are told apart by `output_index`, since some servers give an item a new id with every event; where
an id does come again, it says more than the index, which others leave out or always give as 0. What the deltas left out
or said wrongly is taken from the `done` events, and from the final response. Unknown events and items are skipped.
"""

from typing import Any

from schemas.chunks import FinishReason, Usage
from services.normalizer.decode import UNREADABLE, counts, is_array, is_object, object_at, word, written
from services.normalizer.dialects.odd_events import read_odd, tells_refusal
from services.normalizer.dialects.responses_items import Items
from services.normalizer.dialects.responses_texts import Channel
from services.normalizer.dialects.responses_wire import PAYLOAD, Payload, Response, item_id_of
from services.normalizer.errors import event_error, stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import EndMark, Event, Failed, Finish, Start, TextDelta, ThinkingDelta
from services.normalizer.sse_event import SseEvent

_INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}

_STRICT = PAYLOAD.strict
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_RAW_THOUGHT_DELTAS = frozenset({"response.reasoning_text.delta", "response.reasoning.delta"})
_SUMMARY_DELTAS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_summary.delta"})
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})


class OpenAIResponses:
    """Reads one responses stream."""

    def __init__(self, family: Family) -> None:
        self.finished = False
        self._family = family
        self._model = ""
        self._response_id = ""
        self._usage: dict[str, Any] | None = None
        self._items = Items()
        self._texts = self._items.texts
        self._calls = self._items.calls

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        payload: Payload | None
        try:
            payload = _STRICT(event.data)
        except UNREADABLE:
            payload = PAYLOAD.fitted(event.data)
        if payload is None:
            read_odd(event, out, self._family)
            return
        kind = payload.type or event.name.decode("utf-8", "replace")
        if kind in _TEXT_DELTAS:
            text = payload.delta
            if not isinstance(text, str):
                text = _text_of(text)
            if text:
                self._texts.grow("text", payload.output_index, payload.content_index, text, event.data)
                out.append(TextDelta(text))
        elif kind == "response.function_call_arguments.delta":
            self._calls.grow(payload.output_index, _text_of(payload.delta), event.data, out)
        elif kind == "response.custom_tool_call_input.delta":
            self._calls.grow_input(payload.output_index, _text_of(payload.delta), event.data)
        elif kind in _RAW_THOUGHT_DELTAS:
            self._think(payload, "raw", payload.content_index, event.data, out)
        elif kind in _SUMMARY_DELTAS:
            self._think(payload, "summary", payload.summary_index, event.data, out)
        elif kind.endswith(".done") or kind == "response.output_item.added":
            self._read_item(kind, payload, event.data, out)
        elif payload.response is not None:
            self._read_response(kind, payload.response, out)
        elif kind == "error" or payload.error or event.name == b"error" or (not payload.type and tells_refusal(event)):
            read_odd(event, out, self._family)

    def close(self, out: list[Event]) -> None:
        """Append the free text of a call that nothing closed, and the usage, which is complete only now."""
        if self.finished:
            self._calls.finish(out)
        if self._usage is not None:
            out.append(_report(self._usage))

    def _think(self, payload: Payload, kind: Any, part: int | None, data: bytes, out: list[Event]) -> None:
        text = _text_of(payload.delta)
        if text:
            self._texts.grow(kind, payload.output_index, part, text, data)
            out.append(ThinkingDelta(text, kind))

    def _read_item(self, kind: str, payload: Payload, data: bytes, out: list[Event]) -> None:
        texts, index = self._texts, payload.output_index
        match kind:
            case "response.output_item.added":
                self._items.open(index, payload.item, out)
            case "response.output_item.done":
                self._items.close(index, payload.item, out)
            case "response.output_text.done":
                texts.complete("text", index, payload.content_index, payload.text, item_id_of(data), "text", out)
            case "response.refusal.done":
                texts.complete("text", index, payload.content_index, payload.refusal, item_id_of(data), "text", out)
            case "response.content_part.done":
                channel: Channel = "raw" if word(payload.part, "type") == "reasoning_text" else "text"
                text = word(payload.part, "text") or word(payload.part, "refusal")
                texts.complete(channel, index, payload.content_index, text, item_id_of(data), "part", out)
            case "response.reasoning_text.done":
                texts.complete("raw", index, payload.content_index, payload.text, item_id_of(data), "text", out)
            case "response.reasoning_summary_text.done":
                texts.complete("summary", index, payload.summary_index, payload.text, item_id_of(data), "text", out)
            case "response.function_call_arguments.done":
                self._calls.complete(index, item_id_of(data), payload.arguments, out)
            case "response.custom_tool_call_input.done":
                self._calls.complete_input(index, item_id_of(data), payload.input, out)
            case _:
                return

    def _read_response(self, kind: str, response: Response, out: list[Event]) -> None:
        if (response.model and response.model != self._model) or (response.id and not self._response_id):
            self._model = response.model or self._model
            self._response_id = self._response_id or response.id or ""
            out.append(Start(self._model, self._response_id))
        if is_object(response.usage):
            self._usage = response.usage
        if kind not in _TERMINAL:
            return
        status = response.status or kind.removeprefix("response.")
        if is_array(response.output):
            self._items.recover(response.output, out, complete=status == "completed")
        self.finished = True
        if kind == "response.failed" or response.error:
            out.append(Finish("error", status))
            error: object = response.error
            if error:
                out.append(Failed(event_error(error, written(error), self._family)))
            else:
                out.append(Failed(stream_error("response_failed", "the provider gave the response up")))
            return
        out.append(Finish(_reason(status, response), status))
        out.append(EndMark())


def _reason(status: str, response: Response) -> FinishReason | None:
    if status == "completed":
        return "stop"
    return _INCOMPLETE.get(word(response.incomplete_details, "reason"))


def _text_of(delta: object) -> str:
    """A delta's text; some events wrap it in an object."""
    return delta if isinstance(delta, str) else word(delta, "text")


def _report(usage: dict[str, Any]) -> Usage:
    taken = object_at(usage, "input_tokens_details")
    asked, answered, cached, written, thought, total = counts(
        (
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            taken.get("cached_tokens"),
            taken.get("cache_write_tokens"),
            object_at(usage, "output_tokens_details").get("reasoning_tokens"),
            usage.get("total_tokens"),
        )
    )
    return Usage(
        input_tokens=asked,
        output_tokens=answered,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=thought,
        total_tokens=total,
        raw=usage,
    )
