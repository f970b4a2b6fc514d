"""The provider's HTTP as the streams see it: one POST, the bytes of its response as they come, and two ways to fail."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from services.provider.splicing import SplicedBody
from services.runtime.fetching.urls import FetchPolicy


@dataclass(frozen=True, slots=True)
class Call:
    """A POST with a JSON body. `secret_headers` are added last and shown nowhere.

    `connect_s` is the time until the connection stands and the request begins to be sent: the look-up of the name, the
    proxy and TLS are in it. `policy` says which addresses may be called, directly and by no proxy; None: any.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes | SplicedBody
    connect_s: float
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    policy: FetchPolicy | None = None


class TransportError(Exception):
    """The call failed; `detail` is a short reason, which may hold what the provider sent."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class ConnectFailed(TransportError):
    """No connection came about, so the provider has not seen the request."""


class ConnectionBroken(TransportError):
    """The connection broke after the request began to be sent."""


class Response(Protocol):
    """A response whose body is still coming."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header values by lower-case name."""
        ...

    def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it arrives; raises ConnectionBroken where it ends too early."""
        ...

    async def aclose(self) -> None:
        """Close the response; in mid-stream this closes the connection."""
        ...


class Transport(Protocol):
    """The provider's HTTP, as the streams see it."""

    async def open(self, call: Call) -> Response:
        """Send the request and wait for the response's headers; raises ConnectFailed, ConnectionBroken or CallNotMade."""
        ...
