"""Which IP addresses are public, by the registries of special addresses, whatever a Python version thinks of them.

https://www.iana.org/assignments/iana-ipv4-special-registry and
https://www.iana.org/assignments/iana-ipv6-special-registry

An IPv4 address inside an IPv6 one is judged too, in every form in which a translator, a relay or a tunnel would reach it.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_BLOCKED_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
# Teredo and 6to4 are among them: nobody serves media from there.
_BLOCKED_V6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_LOW_BITS = tuple(IPv6Network(text) for text in ("::/96", "::ffff:0:0:0/96"))
"""IPv4-compatible addresses, and those of stateless translation (RFC 2765), with the IPv4 address at the end."""
_ISATAP, _ISATAP_MASK = 0x00005EFE, 0xFCFFFFFF
"""What stands before the IPv4 address behind any prefix, but for its bits of universal and of group (RFC 5214, 6.1)."""

_NEVER = tuple(
    IPv4Network(text)
    for text in (
        "169.254.0.0/16",
        "100.100.100.200/32",  # Alibaba Cloud's metadata
        "168.63.129.16/32",  # Azure's platform, though the range is a public one
        "192.0.0.192/32",  # Oracle Cloud's metadata
    )
)
_NEVER_V6 = tuple(
    IPv6Network(text)
    for text in (
        "fe80::/10",
        "fd00:c1::a9fe:a9fe/128",  # Oracle Cloud's metadata
        "fd00:a9fe:a9fe::1/128",  # Linode's metadata
        "fd00:100::100:200/128",  # Alibaba Cloud's metadata
        "fd00:ec2::/32",  # AWS's metadata and its neighbours
        "fd20:ce::254/128",  # Google Cloud's metadata
        "fd00:42::42/128",  # Scaleway's metadata
    )
)


def parsed(text: str) -> Address | None:
    """The address that the text is, in canonical form and without a zone; None for a name."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return None if isinstance(address, IPv6Address) and address.scope_id else address


def is_public(address: Address) -> bool:
    """Whether the address is one of the internet's, and every IPv4 address inside it too."""
    address = _inner(address)
    if isinstance(address, IPv4Address):
        return not (is_metadata(address) or any(address in network for network in _BLOCKED_V4))
    if address not in _GLOBAL_V6 or any(address in network for network in _BLOCKED_V6):
        return False
    return all(is_public(inside) for inside in _wrapped(address))


def is_metadata(address: Address) -> bool:
    """Whether a cloud's metadata or a link's neighbour answers there, or at an IPv4 address inside it: no mode allows it."""
    address = _inner(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in _NEVER)
    return any(address in network for network in _NEVER_V6) or any(is_metadata(inside) for inside in _wrapped(address))


def is_loopback(address: Address) -> bool:
    """Whether it is this machine."""
    return _inner(address).is_loopback


def _inner(address: Address) -> Address:
    """The IPv4 address behind a mapped or translated one.

    Networks that are IPv6 only see every IPv4 host behind the NAT64 prefix (RFC 6052), so it cannot just be blocked.
    """
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return _low(int(address)) if address in _NAT64 else address


def _wrapped(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that the address may stand for, where something on the way unwraps it.

    6to4 is RFC 3056, Teredo RFC 4380 (its server and its client). A local NAT64 (RFC 8215) has them in one of the places of
    RFC 6052, 2.2, that only the network knows.
    """
    bits = int(address)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if address in _LOCAL_NAT64:
        yield from (_low(bits), _low(bits >> 24), _around(bits, 16), _around(bits, 8))
    elif any(address in network for network in _LOW_BITS) or (bits >> 32) & _ISATAP_MASK == _ISATAP:
        yield _low(bits)


def _low(bits: int) -> IPv4Address:
    return IPv4Address(bits & 0xFFFF_FFFF)


def _around(bits: int, before: int) -> IPv4Address:
    """The address with `before` of its bits before the octet that RFC 6052 keeps free, the others behind it."""
    behind = 32 - before
    high = (bits >> 64) & ((1 << before) - 1)
    return IPv4Address((high << behind) | ((bits >> (56 - behind)) & ((1 << behind) - 1)))
