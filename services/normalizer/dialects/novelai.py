"""NovelAI's two text streams: completions in OpenAI's older form, and one token an event.

`/oa/v1/completions` answers like OpenAI's text completions
(https://platform.openai.com/docs/api-reference/completions). `/ai/generate-stream` sends events named `newToken` with
`{"token", "ptr", "final"}` (https://text.novelai.net/docs). No recorded stream was at hand for either: this module follows
their descriptions, and its tests are hand-written. Both have text only: no tool calls, no reasoning.
"""

from typing import Any

import msgspec

from schemas.chunks import FinishReason
from services.normalizer.decode import PayloadDecoder, is_object
from services.normalizer.dialects.chat_usage import usage_report
from services.normalizer.dialects.odd_events import read_odd
from services.normalizer.errors.families import Family
from services.normalizer.events import EndMark, Event, Finish, Start, TextDelta
from services.normalizer.sse_event import SseEvent

_FINISHES: dict[str, FinishReason] = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


class _Choice(msgspec.Struct):
    index: int | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Payload(msgspec.Struct):
    token: str | None = None
    final: bool | None = None
    id: str | None = None
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: object = None
    error: object = None
    message: object = None


_PAYLOAD = PayloadDecoder(_Payload)


class NovelAI:
    """Reads one stream of either endpoint; they are told apart by the payloads."""

    def __init__(self, family: Family) -> None:
        self.finished = False
        self._family = family
        self._started = False
        self._usage: dict[str, Any] | None = None

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says."""
        if event.data == b"[DONE]":
            out.append(EndMark())
            return
        payload = _PAYLOAD.decode(event.data)
        if payload is None or payload.error or payload.message or event.name == b"error":
            read_odd(event, out, self._family)
            return
        if not self._started and (payload.model or payload.id):
            self._started = True
            out.append(Start(model=payload.model or "", response_id=payload.id or ""))
        if is_object(payload.usage):
            self._usage = payload.usage
        if payload.token:
            out.append(TextDelta(payload.token))
        for choice in payload.choices or ():
            if choice.index:
                continue
            if choice.text:
                out.append(TextDelta(choice.text))
            if choice.finish_reason:
                self.finished = True
                out.append(Finish(_FINISHES.get(choice.finish_reason), choice.finish_reason))
        if payload.final:
            out.append(EndMark())

    def close(self, out: list[Event]) -> None:
        """Append the usage."""
        if self._usage is not None:
            out.append(usage_report(self._usage))
