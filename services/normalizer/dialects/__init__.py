"""The wire languages of providers, one module each: payloads in, canonical events out.

In: what a payload means. Not in: framing (services.normalizer.sse) and what a reply is made of
(services.normalizer.assembly). A dialect keeps state of one stream and has no other effects. Another dialect is one
module and one row in `DIALECTS`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from schemas.chunks import Dialect
from services.normalizer.dialects.anthropic import Anthropic
from services.normalizer.dialects.google import Google
from services.normalizer.dialects.novelai import NovelAI
from services.normalizer.dialects.openai_chat import OpenAIChat
from services.normalizer.dialects.openai_responses import OpenAIResponses
from services.normalizer.errors.families import Family
from services.normalizer.events import Event
from services.normalizer.sse_event import SseEvent


class StreamDialect(Protocol):
    """Reads one stream of one wire language. `finished`: it has read a finish reason."""

    finished: bool

    def read(self, event: SseEvent, out: list[Event]) -> None:
        """Append what this event says; an EndMark or Failed is the last that it appends.

        Never raises: what cannot be read becomes a Failed event.
        """
        ...

    def close(self, out: list[Event]) -> None:
        """Append what was held back, because nothing follows."""
        ...


DIALECTS: Mapping[Dialect, Callable[[Family], StreamDialect]] = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": Anthropic,
    "google": Google,
    "novelai": NovelAI,
}

PLAIN: Mapping[Dialect, Callable[[Family], StreamDialect]] = {"openai-chat": partial(OpenAIChat, read_details=False)}
"""The dialects that read less where the result is to be what the provider's SDK makes of a stream."""
