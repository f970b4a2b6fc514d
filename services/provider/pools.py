"""Connections to providers, a pool for each of them, so that what one does to its connections is nobody else's affair."""

import ssl
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path

import httpx

from services.provider.lookups import Lookups
from services.runtime.errors import ConfigurationError
from services.runtime.fetching.addresses import Address, is_public
from services.runtime.fetching.connecting import VettedBackend
from services.runtime.fetching.transport import VettedTransport
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings

MOST_POOLS = 64
"""Beyond it the pools that rest longest are closed: users may name as many custom endpoints as they like."""

_KEEPALIVE_CONNECTIONS = 100
_KEEPALIVE_S = 10.0
_USER_AGENT = "odradek"


@dataclass(slots=True)
class Pool:
    """The connections to one origin. `users` is how many responses are open or awaited."""

    client: httpx.AsyncClient
    users: int = 0


class Pools:
    """The pools of a process, by origin."""

    def __init__(
        self, *, proxy: str | None, ca_file: Path | None, public: Callable[[Address], bool] = is_public
    ) -> None:
        """`proxy` None leaves it to HTTPS_PROXY, HTTP_PROXY and NO_PROXY; `public` judges addresses that must be public.

        Raises ConfigurationError.
        """
        self._public = public
        self._proxy = None if proxy is None else _proxy(proxy)
        self._tls = _tls(ca_file)
        self._lookups = Lookups()
        self._pools: OrderedDict[tuple[str, str, int | None, FetchPolicy | None], Pool] = OrderedDict()

    @classmethod
    def of(cls, settings: Settings) -> "Pools":
        """As the settings say; raises ConfigurationError."""
        proxy = settings.provider_proxy
        return cls(proxy=None if proxy is None else proxy.get_secret_value(), ca_file=settings.provider_ca_file)

    async def pool(self, url: httpx.URL, policy: FetchPolicy | None) -> Pool:
        """The pool of a URL's origin; whoever takes it counts as a user until `users` is taken back.

        With a policy it connects to addresses that the policy allows, and directly: a proxy would choose the address itself.
        """
        origin = (url.scheme, url.host, url.port, policy)
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = Pool(self._client(policy))
        self._pools.move_to_end(origin)
        pool.users += 1
        await self._close_surplus()
        return pool

    def blocking_client(self) -> httpx.Client:
        """A client for use in a thread, with the same proxy and certificates, to be closed by whoever asked for it."""
        return httpx.Client(verify=self._tls, proxy=self._proxy, headers={"user-agent": _USER_AGENT})

    async def aclose(self) -> None:
        """Close all connections."""
        self._lookups.close()
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.client.aclose()

    async def _close_surplus(self) -> None:
        surplus = len(self._pools) - MOST_POOLS
        for origin in [origin for origin, pool in self._pools.items() if not pool.users][: max(surplus, 0)]:
            await self._pools.pop(origin).client.aclose()

    def _client(self, policy: FetchPolicy | None) -> httpx.AsyncClient:
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=_KEEPALIVE_CONNECTIONS, keepalive_expiry=_KEEPALIVE_S
        )
        headers = {"user-agent": _USER_AGENT}
        if policy is not None:
            backend = VettedBackend(policy, resolver=self._lookups, public=self._public)
            transport = VettedTransport(backend, tls=self._tls, limits=limits)
            client = httpx.AsyncClient(transport=transport, trust_env=False, headers=headers)
        else:
            # A client, not the transport alone: it knows the environment's proxies.
            client = httpx.AsyncClient(http2=False, verify=self._tls, proxy=self._proxy, limits=limits, headers=headers)
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        return client


def _proxy(url: str) -> httpx.Proxy:
    try:
        return httpx.Proxy(url)
    except (ValueError, httpx.InvalidURL):
        # Neither the text of the error nor its cause: the URL may hold a password.
        raise ConfigurationError(
            "the proxy for provider calls is no URL that can be used",
            remedy="Set ODRADEK_PROVIDER_PROXY to http://HOST:PORT or https://HOST:PORT.",
        ) from None


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    context = httpx.create_ssl_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:
            raise ConfigurationError(
                f"the CA certificates for provider calls cannot be read from {ca_file}: {error.strerror or 'no PEM file'}",
                remedy="Set ODRADEK_PROVIDER_CA_FILE to a file of certificates in PEM.",
            ) from error
    return context
