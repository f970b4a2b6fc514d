"""One HTTP request and the bytes of its response as they come, by httpx over HTTP/1.1.

HTTP/1.1, because closing the response then closes the connection, which is what stops a provider. Nothing is retried
and no redirect is followed: a request is sent at most once, and a key goes nowhere but to the URL that was asked.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, Mapping

import httpx

from services.provider.failures import AddressForbidden
from services.provider.inflating import inflating
from services.provider.pools import Pool, Pools
from services.provider.transport import Call, ConnectFailed, ConnectionBroken
from services.runtime.fetching.refusals import REFUSALS, FetchRefused
from services.runtime.fetching.urls import FetchPolicy, checked

_SENDING = "http11.send_request_headers.started"


class HttpxTransport:
    """The real transport. One a process; it keeps connections of finished responses for a few seconds."""

    def __init__(self, pools: Pools | None = None) -> None:
        """Without `pools` it has its own, as the environment says."""
        self._pools = pools or Pools(proxy=None, ca_file=None)

    async def open(self, call: Call) -> "HttpxResponse":
        """Send the request and wait for the response's headers.

        Raises ConnectFailed, ConnectionBroken, AddressForbidden, and the CallNotMade of a body that cannot be read.
        """
        try:
            url = httpx.URL(call.url) if call.policy is None else checked(call.url, call.policy)
        except httpx.InvalidURL as error:
            raise ConnectFailed("the URL is not valid") from error
        except FetchRefused as error:
            raise _forbidden(error, call.policy) from error
        pool = await self._pools.pool(url, call.policy)
        try:
            return HttpxResponse(await _send(pool.client, url, call), pool)
        except BaseException:
            pool.users -= 1
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pools.aclose()


async def _send(client: httpx.AsyncClient, url: httpx.URL, call: Call) -> httpx.Response:
    sending = False

    async def trace(event: str, info: Mapping[str, object]) -> None:
        """httpcore's word of what it does; a proxy's CONNECT belongs to the making of the connection."""
        nonlocal sending
        request = info.get("request")
        if event == _SENDING and getattr(request, "method", b"") != b"CONNECT":
            sending = True
            connecting.reschedule(None)

    try:
        async with asyncio.timeout(call.connect_s) as connecting:
            return await client.send(_request(client, url, call, trace), stream=True)
    except TimeoutError as error:
        raise ConnectFailed(f"no connection within {call.connect_s:g} s") from error
    except FetchRefused as error:
        if error.code == "DNS_RESOLUTION_FAILED":
            raise ConnectFailed("the host's name is not known") from error
        raise _forbidden(error, call.policy) from error
    except httpx.LocalProtocolError as error:
        # Its text may show the header that is wrong, hence a secret.
        raise ConnectFailed("the request is not valid HTTP") from error
    except httpx.TransportError as error:
        failure = ConnectionBroken if sending else ConnectFailed
        raise failure(_detail(error)) from error


def _request(client: httpx.AsyncClient, url: httpx.URL, call: Call, trace: object) -> httpx.Request:
    headers = httpx.Headers(dict(call.headers))
    headers.update({"content-type": "application/json", "accept-encoding": "identity"})
    if not isinstance(call.body, bytes):
        headers["content-length"] = str(call.body.length)
    headers.update(dict(call.secret_headers))
    return client.build_request(
        "POST", url, headers=headers, content=call.body, timeout=None, extensions={"trace": trace}
    )


class HttpxResponse:
    """See `services.provider.transport.Response`."""

    def __init__(self, response: httpx.Response, pool: Pool) -> None:
        self._response = response
        self._pool: Pool | None = pool

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """Header values by lower-case name."""
        return self._response.headers

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it arrives; raises ConnectionBroken where it ends too early."""
        decoder = inflating(self._response.headers)
        try:
            async for chunk in self._response.aiter_raw():
                for piece in decoder.feed(chunk) if decoder else (chunk,):
                    yield piece
        except zlib.error as error:
            raise ConnectionBroken("the body is not in its content coding") from error
        except httpx.TransportError as error:
            raise ConnectionBroken(_detail(error)) from error

    async def aclose(self) -> None:
        """Close the response; in mid-stream this closes the connection."""
        pool, self._pool = self._pool, None
        try:
            await self._response.aclose()
        finally:
            if pool is not None:
                pool.users -= 1


def _forbidden(error: FetchRefused, policy: FetchPolicy | None) -> AddressForbidden:
    way_in = " An operator lets servers' endpoints lie in their own network by ODRADEK_PRIVATE_ENDPOINTS=1."
    return AddressForbidden(
        f"the endpoint may not be called: {REFUSALS[error.code].reason} ({error.code})",
        remedy=f"{error.remedy}{way_in if policy is not None and policy.public_only else ''}",
    )


def _detail(error: httpx.TransportError) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
