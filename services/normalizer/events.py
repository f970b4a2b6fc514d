"""The canonical events between a dialect and the assembly: what a provider said, in no provider's words.

A dialect knows the wire; the assembly (services.normalizer.assembly) knows what a reply is. Everything between them is
one of these values.
"""

from typing import Any, final

import msgspec

from schemas.chunks import FinishReason, ProviderError, ServerToolCall, ThoughtKind, Usage


class Start(msgspec.Struct, frozen=True, gc=False):
    """The provider named the model or the response; later, non-empty names replace earlier ones."""

    model: str = ""
    response_id: str = ""


class Served(msgspec.Struct, frozen=True, gc=False):
    """The upstream backend that a router chose."""

    provider: str


@final
class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """Visible text; may end or begin with half of a surrogate pair."""

    text: str


@final
class ThinkingDelta(msgspec.Struct, frozen=True, gc=False):
    """Reasoning; may end or begin with half of a surrogate pair. `signature` is a piece of the provider's signature."""

    text: str
    kind: ThoughtKind = "raw"
    signature: str = ""


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the tool call in `slot`; calls are in the order in which their slots first appear.

    Empty strings say nothing. `id` and `name` are set by the first piece that has them. `arguments` is appended to the
    raw JSON text. `given` is a whole argument object, which counts only if no text comes. `signature` is the thought
    signature that belongs to this call. `whole` is all of the raw JSON text, in place of the pieces so far; a delta has
    either that or `arguments`.
    """

    slot: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    given: dict[str, Any] | None = None
    signature: str = ""
    whole: str = ""


class ReplayPart(msgspec.Struct, frozen=True, gc=False):
    """A complete provider-native part of the reply, to be sent back unchanged."""

    part: dict[str, Any]


class Finish(msgspec.Struct, frozen=True, gc=False):
    """The model ended; usage, late text or an error may still follow.

    `reason` is None for an unknown word. `error` says what a reason of `error` or `content_filter` means, where the
    provider's word tells more than that.
    """

    reason: FinishReason | None
    raw: str
    error: ProviderError | None = None


class EndMark(msgspec.Struct, frozen=True, gc=False):
    """The stream says that nothing follows."""


class Failed(msgspec.Struct, frozen=True):
    """The provider reported an error inside the stream, or the stream cannot be read."""

    error: ProviderError


class Cut(msgspec.Struct, frozen=True, gc=False):
    """The stream was closed on our side before its end."""


End = EndMark | Failed | Cut
"""The terminal events: nothing follows one."""

Event = Start | Served | TextDelta | ThinkingDelta | ToolCallDelta | ServerToolCall | ReplayPart | Usage | Finish | End
"""A call of a tool that is not ours to run is told once, complete; of reports of usage the latest counts."""
