"""Which request follows a redirect (RFC 9110, 15.4), decided without sending anything."""

from dataclasses import dataclass, replace
from typing import Literal

import httpx

from services.runtime.fetching.refusals import InvalidResponse
from services.runtime.fetching.urls import FetchPolicy, checked

Method = Literal["GET", "HEAD", "POST"]
MOST_REDIRECTS = 3
STATUSES = frozenset({301, 302, 303, 307, 308})
_OF_THE_BODY = ("content-type", "content-length", "content-encoding", "transfer-encoding")
_FOR_ONE_ORIGIN = ("authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key")


@dataclass(frozen=True, slots=True)
class Hop:
    """A request of a chain; `url` has been checked."""

    method: Method
    url: httpx.URL
    headers: httpx.Headers
    content: bytes | None = None


def next_hop(hop: Hop, status: int, location: str | None, policy: FetchPolicy) -> Hop:
    """The request after a redirect. Raises FetchRefused for its URL, InvalidResponse where it leads nowhere.

    After 303, and for a POST after 301 and 302, it is a GET without a body. Headers with keys stay with their origin.
    """
    if not location:
        raise InvalidResponse("a redirect names no address", status=status)
    url = checked(_joined(hop.url, location, status), policy)
    headers = httpx.Headers(hop.headers)
    if _origin(url) != _origin(hop.url):
        for name in _FOR_ONE_ORIGIN:
            headers.pop(name, None)
    turned = (status == 303 and hop.method != "HEAD") or (status in (301, 302) and hop.method == "POST")
    if not turned:
        return replace(hop, url=url, headers=headers)
    for name in _OF_THE_BODY:
        headers.pop(name, None)
    return Hop("GET", url, headers)


def _joined(base: httpx.URL, location: str, status: int) -> str:
    # Joining would tidy up what the check must see, so an absolute address is taken as it is.
    if "://" in location.partition("?")[0]:
        return location
    if any(character in location for character in "\\\t\r\n "):
        raise InvalidResponse("a redirect's address is malformed", status=status)
    try:
        return str(base.join(location))
    except (httpx.InvalidURL, ValueError):
        raise InvalidResponse("a redirect's address is malformed", status=status) from None


def _origin(url: httpx.URL) -> tuple[str, bytes, int]:
    return url.scheme, url.raw_host, url.port or (443 if url.scheme == "https" else 80)
