"""Connections that go to vetted addresses only: one place resolves a name, judges every address, and connects to one.

Since httpcore asks its network backend for every connection, nothing can lie between the check and the connection: no second
look into DNS, no literal address that skips the resolver. TLS and the Host header still speak of the name.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import zip_longest
from typing import cast

import httpcore

from services.runtime.fetching.addresses import Address, is_metadata, is_public, parsed
from services.runtime.fetching.refusals import FetchRefused
from services.runtime.fetching.urls import FetchPolicy

Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]
"""All addresses of a host in order of preference; raises OSError where there are none."""

MOST_ADDRESSES = 4
ADDRESS_S = 4.0
"""How many addresses of a host are tried, and for how long each but the last: one that is dead leaves time for the next."""


async def system_resolver(host: str, port: int) -> Sequence[Address]:
    """The addresses that the machine's own resolver gives, from the threads that everybody shares."""
    return await asyncio.get_running_loop().run_in_executor(None, look_up, host, port)


def look_up(host: str, port: int) -> Sequence[Address]:
    """The addresses that the machine's own resolver gives, in its order. Blocks.

    Raises OSError where there are none, FetchRefused for one with a zone.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [parsed(str(entry[4][0])) for entry in found]
    if None in addresses:
        raise FetchRefused("PRODUCTION_BLOCKED_ADDRESS")  # only link-local addresses have a zone
    return list(dict.fromkeys(address for address in addresses if address))


async def vetted(
    host: str,
    port: int,
    policy: FetchPolicy,
    *,
    resolver: Resolver = system_resolver,
    public: Callable[[Address], bool] = is_public,
) -> Sequence[Address]:
    """All addresses of the host, if every one of them may be reached; raises FetchRefused.

    `public` judges an address where the policy wants public ones.
    """
    literal = parsed(host)
    try:
        addresses = [literal] if literal else await resolver(host, port)
    except (OSError, UnicodeError):
        raise FetchRefused("DNS_RESOLUTION_FAILED") from None
    if not addresses:
        raise FetchRefused("DNS_RESOLUTION_FAILED")
    if any(is_metadata(address) or (policy.public_only and not public(address)) for address in addresses):
        raise FetchRefused("PRODUCTION_BLOCKED_ADDRESS")
    return addresses


class VettedBackend(httpcore.AsyncNetworkBackend):
    """Connects to a host only if all of its addresses may be reached, and then to one of exactly those.

    See `vetted` for the arguments. Raises FetchRefused, or httpcore's errors.
    """

    def __init__(
        self,
        policy: FetchPolicy,
        *,
        resolver: Resolver = system_resolver,
        public: Callable[[Address], bool] = is_public,
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._public = public
        self._inner = cast(httpcore.AsyncNetworkBackend, httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the port of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, vet and connect, one address after the other, all within `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                found = await vetted(host, port, self._policy, resolver=self._resolver, public=self._public)
                addresses = _in_turns(found)[:MOST_ADDRESSES]
                for address in addresses[:-1]:
                    try:
                        return await self._connect(address, port, ADDRESS_S, local_address, socket_options)
                    except (httpcore.ConnectError, httpcore.ConnectTimeout):
                        continue
                return await self._connect(addresses[-1], port, None, local_address, socket_options)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 -- the port of httpcore
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refused: a socket of this machine is never public."""
        raise FetchRefused("PRODUCTION_BLOCKED_ADDRESS")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore asks for it."""
        await self._inner.sleep(seconds)

    async def _connect(
        self,
        address: Address,
        port: int,
        limit_s: float | None,
        local_address: str | None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._inner.connect_tcp(str(address), port, limit_s, local_address, socket_options)
        peer = stream.get_extra_info("server_addr")
        if peer is None or parsed(str(peer[0])) != address:
            await stream.aclose()
            raise FetchRefused("PRODUCTION_BLOCKED_ADDRESS")
        return stream


def _in_turns(addresses: Sequence[Address]) -> list[Address]:
    """IPv6 and IPv4 in turns, from the resolver's first choice on, so that a broken family costs one try."""
    first = [address for address in addresses if address.version == addresses[0].version]
    other = [address for address in addresses if address.version != addresses[0].version]
    return [address for pair in zip_longest(first, other) for address in pair if address]
