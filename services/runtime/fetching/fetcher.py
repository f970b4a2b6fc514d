"""A fetch of what a user points at: vetted at each hop, bounded in bytes and in time as a whole."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from services.runtime.fetching.addresses import Address, is_public
from services.runtime.fetching.connecting import Resolver, VettedBackend, system_resolver
from services.runtime.fetching.redirects import MOST_REDIRECTS, STATUSES, Hop, Method, next_hop
from services.runtime.fetching.refusals import InvalidResponse, NetworkFailed, SizeExceeded, TimedOut
from services.runtime.fetching.transport import VettedTransport
from services.runtime.fetching.urls import FetchPolicy, checked

_CONNECT_S = 10.0
_CONNECTIONS = httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=10.0)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came: the whole body, and what the server says that it is (lower case, without parameters; "" if nothing)."""

    body: bytes
    media_type: str


class Fetcher:
    """Fetches within a policy. One a process; `resolver`, `public` and `tls` as for the backend and the transport."""

    def __init__(
        self,
        policy: FetchPolicy,
        *,
        resolver: Resolver = system_resolver,
        public: Callable[[Address], bool] = is_public,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        backend = VettedBackend(policy, resolver=resolver, public=public)
        # A client of httpx would look into every redirect's address by itself, and keep cookies.
        self._transport = VettedTransport(backend, tls=tls, limits=_CONNECTIONS)

    async def fetch(self, url: str, *, most_bytes: int, total_s: float, known_bytes: int | None = None) -> Fetched:
        """GET a whole body; raises FetchFailed.

        The size is checked three times: as `known_bytes` says before anything is sent, by the content-length, and as
        bytes come. A body in a content coding is refused, since it was not asked for and may hide its size.
        """
        if known_bytes is not None and known_bytes > most_bytes:
            raise SizeExceeded("more bytes than allowed, as was known before")
        async with self.open("GET", url, total_s=total_s) as response:
            return await _whole(response, most_bytes)

    @asynccontextmanager
    async def open(
        self,
        method: Method,
        url: str,
        *,
        total_s: float,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> AsyncGenerator[httpx.Response]:
        """A response whose body is still to be read, after at most 3 redirects; raises FetchFailed.

        `total_s` bounds what is done inside the context too.
        """
        hop = Hop(method, checked(url, self._policy), httpx.Headers(dict(headers or {})), content)
        try:
            async with asyncio.timeout(total_s):
                response = await self._follow(hop)
                try:
                    yield response
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TimeoutException):
            raise TimedOut(f"not done within {total_s:g} s") from None
        except httpx.TransportError as error:
            raise NetworkFailed(f"the connection failed: {type(error).__name__}") from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def _follow(self, hop: Hop) -> httpx.Response:
        for left in range(MOST_REDIRECTS, -1, -1):
            response = await self._transport.handle_async_request(_request(hop))
            status = response.status_code
            if status not in STATUSES:
                return response
            await response.aclose()
            if not left:
                raise InvalidResponse(f"more than {MOST_REDIRECTS} redirects", status=status)
            hop = next_hop(hop, status, response.headers.get("location"), self._policy)
        raise AssertionError("the last request returns or raises")


def _request(hop: Hop) -> httpx.Request:
    headers = httpx.Headers({"user-agent": "odradek", "accept": "*/*", "accept-encoding": "identity"})
    headers.update(hop.headers)
    timeout = httpx.Timeout(None, connect=_CONNECT_S).as_dict()
    return httpx.Request(hop.method, hop.url, headers=headers, content=hop.content, extensions={"timeout": timeout})


async def _whole(response: httpx.Response, most_bytes: int) -> Fetched:
    status = response.status_code
    if status != 200:
        raise InvalidResponse(f"status {status}", status=status)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise InvalidResponse("the body is in a content coding that was not asked for", status=status)
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most_bytes:
        raise SizeExceeded("more bytes than allowed, by the content-length", status=status)
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > most_bytes:
            raise SizeExceeded("more bytes than allowed", status=status)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(bytes(body), media_type)
