"""Which IP addresses are public, by the registries of special addresses, whatever a Python version thinks of them.

https://www.iana.org/assignments/iana-ipv4-special-registry and
https://www.iana.org/assignments/iana-ipv6-special-registry
"""

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
# Teredo and 6to4 wrap an IPv4 address that a relay would reach; nobody serves media from there.
_BLOCKED_V6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")

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
    """Whether the address is one of the internet's. An IPv4 address inside an IPv6 one is judged as itself."""
    address = _inner(address)
    if isinstance(address, IPv4Address):
        return not (is_metadata(address) or any(address in network for network in _BLOCKED_V4))
    return address in _GLOBAL_V6 and not any(address in network for network in _BLOCKED_V6)


def is_metadata(address: Address) -> bool:
    """Whether a cloud's metadata or a link's neighbour answers there, which no mode allows."""
    address = _inner(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in _NEVER)
    return any(address in network for network in _NEVER_V6)


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
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address
