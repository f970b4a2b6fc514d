"""How a stream can end, as the provider worker saw it and wrote it to the raw topic."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, assert_never

from schemas.raw import RawEnd

DeadlineKind = Literal["first_byte", "idle", "total"]


@dataclass(frozen=True, slots=True)
class EndOfFile:
    """The provider closed the response body in the proper way."""


@dataclass(frozen=True, slots=True)
class ConnectionReset:
    """The connection broke; `detail` says how, without secrets."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class ConnectFailed:
    """No connection came about: name not found, refused, TLS; `detail` says how, without secrets."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class HttpError:
    """The provider answered with a status other than 2xx; the body is what was fed.

    `received_at` (aware) is when the answer came, against which a `Retry-After` date is read.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """We gave up waiting: for the first byte, the next byte, or the whole."""

    kind: DeadlineKind


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The reader cut the stream off, since it had grown over the limit."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Somebody stopped the turn, and the connection was closed on our side."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker that held the stream went silent, so the rest of its bytes is unknown."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The request was older than its time to live and was never sent."""


Failure = EndOfFile | ConnectionReset | ConnectFailed | HttpError | Deadline | TooLarge | Lost | Expired
"""The endings that fail a reply which has no finish of its own."""

Ending = Failure | Stopped


def ending_of(end: RawEnd, written_at: datetime | None = None) -> Ending:
    """The ending that a raw end record means. `written_at` (aware): the record's timestamp."""
    match end.ending:
        case "eof":
            return EndOfFile()
        case "reset":
            return ConnectionReset(end.detail or "")
        case "connect_failed":
            return ConnectFailed(end.detail or "")
        case "http_error":
            headers = dict(end.retry_hints) | ({} if end.retry_after is None else {"retry-after": end.retry_after})
            return HttpError(end.http_status or 0, headers, written_at)
        case "first_byte_timeout":
            return Deadline("first_byte")
        case "idle_timeout":
            return Deadline("idle")
        case "total_timeout":
            return Deadline("total")
        case "too_large":
            return TooLarge()
        case "stopped":
            return Stopped()
        case "lost":
            return Lost()
        case "expired":
            return Expired()
        case _:
            assert_never(end.ending)
