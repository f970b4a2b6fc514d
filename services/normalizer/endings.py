"""How a stream can end, as the provider worker saw it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

DeadlineKind = Literal["connect", "first_byte", "idle", "total"]


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
    """The provider answered with a status other than 2xx; `body` may be cut.

    `received_at` (aware) is when the answer came, against which a `Retry-After` date is read.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """We gave up waiting: for the connection, the first byte, the next byte, or the whole."""

    kind: DeadlineKind


@dataclass(frozen=True, slots=True)
class Stopped:
    """Somebody stopped the turn, and the connection was closed on our side."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker that held the stream went silent, so the rest of its bytes is unknown."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The request was older than its time to live and was never sent."""


Ending = EndOfFile | ConnectionReset | ConnectFailed | HttpError | Deadline | Stopped | Lost | Expired
