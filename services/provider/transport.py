"""One HTTP request and the bytes of its response as they come, by httpx over HTTP/1.1.

HTTP/1.1, because closing the response then closes the connection, which is what stops a provider. Nothing is retried
and no redirect is followed: a request is sent at most once, and a key goes nowhere but to the URL that was asked.
"""

import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Protocol

import httpx

_KEEPALIVE_CONNECTIONS = 100
_KEEPALIVE_S = 10.0
_USER_AGENT = "odradek"
_MOST_DECODED_BYTES = 64 * 1024
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32


@dataclass(frozen=True, slots=True)
class Call:
    """A POST with a JSON body. `secret_headers` are added last and shown nowhere."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    connect_s: float
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


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
        """Send the request and wait for the response's headers; raises ConnectFailed or ConnectionBroken."""
        ...


class HttpxTransport:
    """The real transport. One a process; it keeps connections of finished responses for a few seconds."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(
            http2=False,
            follow_redirects=False,
            limits=httpx.Limits(
                max_connections=None,
                max_keepalive_connections=_KEEPALIVE_CONNECTIONS,
                keepalive_expiry=_KEEPALIVE_S,
            ),
            headers={"user-agent": _USER_AGENT},
        )
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    async def open(self, call: Call) -> Response:
        """Send the request and wait for the response's headers; raises ConnectFailed or ConnectionBroken."""
        headers = httpx.Headers(dict(call.headers))
        headers.update({"content-type": "application/json", "accept-encoding": "identity"})
        headers.update(dict(call.secret_headers))
        try:
            request = self._client.build_request(
                "POST",
                call.url,
                headers=headers,
                content=call.body,
                timeout=httpx.Timeout(None, connect=call.connect_s),
            )
            return _HttpxResponse(await self._client.send(request, stream=True))
        except httpx.ConnectTimeout as error:
            raise ConnectFailed(f"no connection within {call.connect_s:g} s") from error
        except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            raise ConnectFailed(_detail(error)) from error
        except httpx.LocalProtocolError as error:
            # Its text may show the header that is wrong, hence a secret.
            raise ConnectFailed("the request is not valid HTTP") from error
        except httpx.InvalidURL as error:
            raise ConnectFailed("the URL is not valid") from error
        except httpx.TransportError as error:
            raise ConnectionBroken(_detail(error)) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


class _HttpxResponse:
    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    async def chunks(self) -> AsyncGenerator[bytes]:
        inflating = _inflating(self._response.headers)
        try:
            async for chunk in self._response.aiter_raw():
                for piece in inflating.feed(chunk) if inflating else (chunk,):
                    yield piece
        except zlib.error as error:
            raise ConnectionBroken("the body is not in its content coding") from error
        except httpx.TransportError as error:
            raise ConnectionBroken(_detail(error)) from error

    async def aclose(self) -> None:
        await self._response.aclose()


class _Inflating:
    """Decodes for the server that compresses although it was asked not to, never more than a piece at a time.

    httpx would decode all that one read brings at once, and coding within coding: kilobytes that become gigabytes.
    """

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_ZLIB_OR_GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._zlib.eof:
            piece = self._zlib.decompress(data, _MOST_DECODED_BYTES)
            if piece:
                yield piece
            data = self._zlib.unconsumed_tail
            if not data and len(piece) < _MOST_DECODED_BYTES:
                return


def _inflating(headers: httpx.Headers) -> _Inflating | None:
    """The decoder of a body that is compressed once; None leaves all other bodies as they are."""
    codings = [coding.strip().lower() for coding in headers.get("content-encoding", "").split(",")]
    named = [coding for coding in codings if coding not in ("", "identity")]
    return _Inflating() if named in (["gzip"], ["x-gzip"], ["deflate"]) else None


def _detail(error: httpx.TransportError) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
