"""A script says what the provider plays for one call: the steps of a stream, how its bytes are cut, and how it ends.

Scripts are plain values. `Script` has one of three plays: `Stream` (built from neutral steps in the caller's dialect),
`Recording` (bytes as they are) and `Answer` (a whole HTTP answer, such as a refusal or a page of HTML).
`parse_script` reads one from JSON, where every member of a union carries its `kind`.
"""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from services.sandbox.provider.neutral import DialectName, Usage

Millis = Annotated[float, Field(ge=0, le=600_000)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[^\r\n\x00]*$")]
_STRICT = ConfigDict(extra="forbid")


class ScriptError(ValueError):
    """A script that cannot be read; the message names the place and the reason."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's own canned reply, or only its first `deltas` deltas."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    deltas: Annotated[int, Field(ge=0)] | None = None
    kind: Literal["reply"] = "reply"


@dataclass(frozen=True, slots=True)
class Text:
    """Reply text: a string is split into deltas of about a word, a tuple is sent delta by delta."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    text: str | tuple[str, ...]
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thinking (reasoning) text, split as `Text` is."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    text: str | tuple[str, ...]
    kind: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; `arguments` is JSON text, whole or in the pieces to stream.

    Google sends arguments as an object, so pieces that are no JSON object end there as `MALFORMED_FUNCTION_CALL`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    name: str
    arguments: str | tuple[str, ...] = "{}"
    id: str | None = None
    kind: Literal["tool-call"] = "tool-call"


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence of `ms` milliseconds; before the first other step, only the HTTP headers have been sent."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    ms: Millis
    kind: Literal["pause"] = "pause"


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """`count` signs of life, one every `every_ms`: an SSE comment, an empty `data:` line, or the dialect's ping.

    Chat and Google have no ping of their own and send a comment instead.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    count: Annotated[int, Field(ge=1)] = 1
    every_ms: Millis = 1000.0
    form: Literal["comment", "empty", "ping"] = "comment"
    kind: Literal["keep-alive"] = "keep-alive"


Step = Annotated[Reply | Text | Thinking | ToolCall | Pause | KeepAlive, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Finish:
    """The dialect's proper end.

    `reason` is `stop`, `length`, `tool_calls`, `content_filter` or a raw one to pass on; None chooses between `stop`
    and `tool_calls`. Usage is counted from the prompt's words and the deltas unless given.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    reason: str | None = None
    usage: Usage | None = None
    kind: Literal["finish"] = "finish"


@dataclass(frozen=True, slots=True)
class Eof:
    """A clean end of the HTTP body, without a finish reason or end mark."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    kind: Literal["eof"] = "eof"


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (TCP RST) once everything before has been sent."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    kind: Literal["reset"] = "reset"


@dataclass(frozen=True, slots=True)
class Hang:
    """The connection stays open and silent until the client or the server closes it."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    kind: Literal["hang"] = "hang"


@dataclass(frozen=True, slots=True)
class StreamError:
    """An error event inside the stream, in the dialect's form for `status`, and then the end of the body."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    status: Annotated[int, Field(ge=400, le=599)] = 503
    message: str = "The sandbox was told to fail in mid-stream."
    kind: Literal["stream-error"] = "stream-error"


StreamEnding = Annotated[Finish | Eof | Reset | Hang | StreamError, Field(discriminator="kind")]
RecordingEnding = Annotated[Eof | Reset | Hang | StreamError, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class EachEvent:
    """One write an SSE event."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    kind: Literal["each-event"] = "each-event"


@dataclass(frozen=True, slots=True)
class Whole:
    """One write for all bytes between two silences."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    kind: Literal["whole"] = "whole"


@dataclass(frozen=True, slots=True)
class EveryBytes:
    """A write every `count` bytes."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    count: Annotated[int, Field(ge=1)]
    kind: Literal["every-bytes"] = "every-bytes"


@dataclass(frozen=True, slots=True)
class AtBytes:
    """Writes end at these byte positions of the body, counted from 0; the rest follows in one write."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    positions: tuple[Annotated[int, Field(ge=1)], ...]
    kind: Literal["at-bytes"] = "at-bytes"


Cuts = Annotated[EachEvent | Whole | EveryBytes | AtBytes, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream made of steps in the caller's dialect.

    `pace_ms` is the wait before each delta, or between writes where bytes are cut by position; None is the server's
    pace. After `stop_after_bytes` body bytes nothing more is sent and the ending follows (an ending that would send
    bytes of its own sends none).
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    steps: tuple[Step, ...] = (Reply(),)
    ending: StreamEnding = field(default_factory=Finish)
    pace_ms: Millis | None = None
    cuts: Cuts = field(default_factory=EachEvent)
    stop_after_bytes: Annotated[int, Field(ge=0)] | None = None
    kind: Literal["stream"] = "stream"


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded bytes, sent as they are; `pace_ms`, `cuts` and `stop_after_bytes` as in `Stream`."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    body: bytes
    ending: RecordingEnding = field(default_factory=Eof)
    pace_ms: Millis | None = None
    cuts: Cuts = field(default_factory=EachEvent)
    stop_after_bytes: Annotated[int, Field(ge=0)] | None = None
    kind: Literal["recording"] = "recording"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer: the dialect's native error for `status`, or the given body (garbage is a 200 with HTML)."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    status: Annotated[int, Field(ge=200, le=599)]
    headers: dict[HeaderName, HeaderValue] = field(default_factory=dict[str, str])
    message: str = "The sandbox was told to refuse this call."
    body: bytes | None = None
    content_type: HeaderValue = "application/json"
    kind: Literal["answer"] = "answer"


Play = Annotated[Stream | Recording | Answer, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Script:
    """What to play, and for which calls: the next `times` ones that match every filter given.

    `model` also makes a name known that otherwise is answered with 404. `contains` is looked for in the text of every
    message of the prompt. `times` None means: until the next reset.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    play: Play = field(default_factory=Stream)
    model: Annotated[str, Field(min_length=1)] | None = None
    contains: Annotated[str, Field(min_length=1)] | None = None
    dialect: DialectName | None = None
    times: Annotated[int, Field(ge=1)] | None = 1


_SCRIPT: TypeAdapter[Script] = TypeAdapter(Script)


def parse_script(text: bytes) -> Script:
    """Read a script from JSON; raises `ScriptError`."""
    try:
        return _SCRIPT.validate_json(text)
    except ValidationError as error:
        places = (f"{'.'.join(map(str, fault['loc'])) or 'script'}: {fault['msg']}" for fault in error.errors()[:5])
        raise ScriptError("; ".join(places)) from None
