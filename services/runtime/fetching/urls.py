"""What a URL must look like to be fetched. Names are resolved, and their addresses judged, where the connection is made."""

import re
from dataclasses import dataclass
from typing import Literal

import httpx

from services.runtime.fetching.addresses import is_loopback, is_metadata, is_public, parsed
from services.runtime.fetching.refusals import FetchRefused

MOST_CHARACTERS = 8_192
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\\u0080-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_AUTHORITY = re.compile(r"https?://([^/?#]+)", re.IGNORECASE)
_NAME = re.compile(
    r"(?=.{1,253}\.?$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.?"
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOCALHOST = re.compile(r"(.+\.)?(localhost|localdomain)|ip6-localhost|ip6-loopback")

# https://fetch.spec.whatwg.org/#port-blocking: services that would take an HTTP request for their own protocol.
_BAD_PORTS = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104),
        *(109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526),
        *(
            530,
            531,
            532,
            540,
            548,
            554,
            556,
            563,
            587,
            601,
            636,
            989,
            990,
            993,
            995,
            1719,
            1720,
            1723,
            2049,
            3659,
            4045,
        ),
        *(4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """What may be fetched.

    In production: https only, no localhost, public addresses only. In development: any https, and plain http of localhost;
    with `strict_addresses` public addresses only too. In one's own network: https and http anywhere. Metadata and
    link-local addresses are never reached.
    """

    mode: Literal["production", "development", "own_network"] = "production"
    strict_addresses: bool = False

    @property
    def public_only(self) -> bool:
        """Whether every address of a host must be public."""
        return self.mode == "production" or self.strict_addresses


def checked(url: str, policy: FetchPolicy) -> httpx.URL:
    """The URL as it will be connected to; raises FetchRefused.

    Refused besides what the policy forbids: user names, white space, control characters, backslashes, hosts that end in a
    number but are no plain IPv4 address, zone ids, ports on which no web server listens.
    """
    scheme = _SCHEME.match(url)
    if len(url) > MOST_CHARACTERS or _NOT_IN_A_URL.search(url) or scheme is None:
        raise FetchRefused("INVALID_FORMAT")
    if scheme.group(1).lower() not in ("http", "https"):
        raise FetchRefused("INVALID_PROTOCOL")
    authority = _AUTHORITY.match(url)
    if authority is None or "@" in authority.group(1):
        raise FetchRefused("INVALID_FORMAT")
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        raise FetchRefused("INVALID_FORMAT") from None
    port = found.port
    if port is not None and (port in _BAD_PORTS or not 0 < port <= 65_535):
        raise FetchRefused("INVALID_FORMAT")
    _check_host(found.raw_host.decode("ascii"), found.scheme, policy)
    return found


def _check_host(host: str, scheme: str, policy: FetchPolicy) -> None:
    name = host.removesuffix(".")
    address = parsed(host)
    if address is None and (not _NAME.fullmatch(host) or _NUMBER.fullmatch(name.rpartition(".")[2])):
        raise FetchRefused("INVALID_FORMAT")
    is_localhost = is_loopback(address) if address else _LOCALHOST.fullmatch(name) is not None
    if policy.mode == "production":
        if scheme != "https":
            raise FetchRefused("PRODUCTION_HTTPS_REQUIRED")
        if is_localhost and address is None:
            raise FetchRefused("PRODUCTION_LOCALHOST_FORBIDDEN")
    elif policy.mode == "development" and scheme == "http" and not is_localhost:
        raise FetchRefused("REMOTE_HTTP_FORBIDDEN")
    if address and (is_metadata(address) or (policy.public_only and not is_public(address))):
        raise FetchRefused("PRODUCTION_BLOCKED_ADDRESS")
