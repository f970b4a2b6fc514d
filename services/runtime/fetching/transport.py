"""An httpx transport whose connections go to vetted addresses only, for whoever needs a client of httpx."""

import ssl

import httpcore
import httpx

from services.runtime.fetching.connecting import VettedBackend


class VettedTransport(httpx.AsyncHTTPTransport):
    """HTTP/1.1 over a VettedBackend: no proxy, nothing from the environment, no retries.

    `tls` has the certificates to trust, by default those that httpx trusts. Requests raise FetchRefused besides httpx's
    errors.
    """

    def __init__(
        self, backend: VettedBackend, *, tls: ssl.SSLContext | None = None, limits: httpx.Limits | None = None
    ) -> None:
        limits = limits or httpx.Limits()
        tls = tls or httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=tls, trust_env=False, limits=limits)
        # httpx has no argument for httpcore's network backend. Should its pool get another name, no request may go out.
        if not isinstance(vars(self).get("_pool"), httpcore.AsyncConnectionPool):
            raise TypeError("this httpx keeps its connections elsewhere, so they cannot be vetted")
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=backend,
        )
