"""What a dialect must offer, and the SSE framing and request reading that all of them share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec
import orjson

from services.sandbox.provider.neutral import DialectName, Prompt, Usage
from services.sandbox.provider.script import ToolCall


class BadRequestError(ValueError):
    """A request body that the dialect does not accept; the message is fit for the caller."""


@dataclass(frozen=True, slots=True)
class Head:
    """What every event of one reply repeats: an id unique to the call, the model, and the creation time in seconds."""

    number: int
    model: str
    created: int
    input_tokens: int
    wants_usage: bool


class Encoder(Protocol):
    """Turns neutral deltas of one reply into native SSE events; opening events come with the first delta."""

    def text(self, delta: str) -> list[bytes]:
        """Events of one delta of reply text."""
        ...

    def thinking(self, delta: str) -> list[bytes]:
        """Events of one delta of thinking."""
        ...

    def tool_call(self, call: ToolCall) -> list[bytes]:
        """Events of a whole tool call."""
        ...

    def finish(self, reason: str, usage: Usage) -> list[bytes]:
        """Events of a proper end, with the end mark if the dialect has one."""
        ...

    def error(self, status: int, message: str) -> bytes:
        """The event of an error in mid-stream."""
        ...

    def ping(self) -> bytes:
        """The dialect's own keep-alive, or an SSE comment where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect.

    `read` gets the decoded body and the model from the path (empty unless the path holds it) and raises
    `BadRequestError`. `key` gets lower-case headers and returns the key shown, or None. `check_envelope` looks at headers
    and query and raises `BadRequestError`. `error_body` makes the native body of an HTTP error.
    """

    name: DialectName
    read: Callable[[object, str], Prompt]
    encoder: Callable[[Head], Encoder]
    error_body: Callable[[int, str], bytes]
    key: Callable[[Mapping[str, str]], str | None]
    check_envelope: Callable[[Mapping[str, str], Mapping[str, str]], None]
    request_id_header: str


class Part(msgspec.Struct):
    """A part of a message's content; parts without text (images, calls) read as empty."""

    text: str | None = None


Content = str | list[Part] | None
_Request = TypeVar("_Request")


def content_text(content: Content) -> str:
    """The text of a message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if part.text)


def read_as(body: object, shape: type[_Request]) -> _Request:
    """Check a decoded body against a shape; raises `BadRequestError` with the place of the fault."""
    try:
        return msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise BadRequestError(f"Invalid request body: {error}") from None


def sse(data: Mapping[str, object], event: str | None = None, eol: bytes = b"\n") -> bytes:
    """One SSE event with a JSON payload."""
    name = b"" if event is None else b"event: " + event.encode() + eol
    return name + b"data: " + orjson.dumps(data) + eol + eol


def bearer_key(headers: Mapping[str, str]) -> str | None:
    """The key of an `Authorization: Bearer` header (RFC 6750)."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def any_envelope(_headers: Mapping[str, str], _query: Mapping[str, str]) -> None:
    """For dialects that need nothing beside the key and the body."""


def pieces(arguments: str | tuple[str, ...]) -> tuple[str, ...]:
    """A tool call's arguments in the pieces to stream."""
    return (arguments,) if isinstance(arguments, str) else arguments
