"""URLs that lead, or seem to lead, into the operator's network: none begins a connection, whatever their form."""

import re
from ipaddress import IPv4Address, ip_address
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.fetching.addresses import is_public
from services.runtime.fetching.connecting import VettedBackend, vetted
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.refusals import FetchRefused, RefusalCode
from services.runtime.fetching.urls import FetchPolicy, checked
from tests.runtime.fetching.conftest import Certificates, Dns

BLOCKED, FORMAT, LOCALHOST = "PRODUCTION_BLOCKED_ADDRESS", "INVALID_FORMAT", "PRODUCTION_LOCALHOST_FORBIDDEN"

HOSTILE: dict[str, RefusalCode] = {
    # IPv4, one of each special range
    "https://0.0.0.0/": BLOCKED,
    "https://0.1.2.3/": BLOCKED,
    "https://10.1.2.3/": BLOCKED,
    "https://100.64.0.1/": BLOCKED,
    "https://100.100.100.200/latest/meta-data/": BLOCKED,
    "https://127.0.0.1/": BLOCKED,
    "https://127.255.255.254/": BLOCKED,
    "https://168.63.129.16/machine": BLOCKED,
    "https://169.254.169.254/latest/meta-data/": BLOCKED,
    "https://172.16.0.1/": BLOCKED,
    "https://172.31.255.255/": BLOCKED,
    "https://192.0.0.192/": BLOCKED,
    "https://192.0.2.1/": BLOCKED,
    "https://192.88.99.1/": BLOCKED,
    "https://192.168.1.1/": BLOCKED,
    "https://198.18.0.1/": BLOCKED,
    "https://198.51.100.1/": BLOCKED,
    "https://203.0.113.1/": BLOCKED,
    "https://224.0.0.1/": BLOCKED,
    "https://240.0.0.1/": BLOCKED,
    "https://255.255.255.255/": BLOCKED,
    # IPv4 in other words
    "https://2130706433/": FORMAT,
    "https://0x7f000001/": FORMAT,
    "https://017700000001/": FORMAT,
    "https://0177.0.0.1/": FORMAT,
    "https://0x7f.0.0.1/": FORMAT,
    "https://0x7f.1/": FORMAT,
    "https://127.1/": FORMAT,
    "https://127.0.1/": FORMAT,
    "https://127.0.0.1./": FORMAT,
    "https://0/": FORMAT,
    "https://0x/": FORMAT,
    "https://0xa9fea9fe/": FORMAT,
    "https://127.0.0.1.1/": FORMAT,
    "https://256.256.256.256/": FORMAT,
    "https://00000000177.0.0.1/": FORMAT,
    # IPv6
    "https://[::]/": BLOCKED,
    "https://[::1]/": BLOCKED,
    "https://[0:0:0:0:0:0:0:1]/": BLOCKED,
    "https://[0000:0000:0000:0000:0000:0000:0000:0001]/": BLOCKED,
    "https://[fc00::1]/": BLOCKED,
    "https://[fd00:ec2::254]/": BLOCKED,
    "https://[fe80::1]/": BLOCKED,
    "https://[fec0::1]/": BLOCKED,
    "https://[ff02::1]/": BLOCKED,
    "https://[100::1]/": BLOCKED,
    "https://[2001:db8::1]/": BLOCKED,
    "https://[3fff::1]/": BLOCKED,
    "https://[5f00::1]/": BLOCKED,
    # IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo, ISATAP
    "https://[::ffff:127.0.0.1]/": BLOCKED,
    "https://[::ffff:7f00:1]/": BLOCKED,
    "https://[0:0:0:0:0:ffff:a9fe:a9fe]/": BLOCKED,
    "https://[::ffff:0:127.0.0.1]/": BLOCKED,
    "https://[::127.0.0.1]/": BLOCKED,
    "https://[::8.8.8.8]/": BLOCKED,
    "https://[64:ff9b::127.0.0.1]/": BLOCKED,
    "https://[64:ff9b::a9fe:a9fe]/": BLOCKED,
    "https://[64:ff9b:1::7f00:1]/": BLOCKED,
    "https://[2002:7f00:1::]/": BLOCKED,
    "https://[2002:a9fe:a9fe::1]/": BLOCKED,
    "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/": BLOCKED,
    "https://[fe80::5efe:127.0.0.1]/": BLOCKED,
    # zone ids and broken brackets
    "https://[fe80::1%25eth0]/": FORMAT,
    "https://[fe80::1%eth0]/": FORMAT,
    "https://[::1%25lo]/": FORMAT,
    "https://[::1/": FORMAT,
    "https://[::1]evil.example/": FORMAT,
    "https://[v1.localhost]/": FORMAT,
    "https://::1/": FORMAT,
    # names of this machine
    "https://localhost/": LOCALHOST,
    "https://LOCALHOST/": LOCALHOST,
    "https://localhost./": LOCALHOST,
    "https://a.localhost/": LOCALHOST,
    "https://localhost.localdomain/": LOCALHOST,
    "https://ip6-localhost/": LOCALHOST,
    # letters that become others
    "https://１２７.０.０.１/": FORMAT,
    "https://①②⑦.⓪.⓪.①/": FORMAT,
    "https://127。0。0。1/": BLOCKED,
    "https://127．0．0．1/": BLOCKED,
    "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/": FORMAT,
    "https://local\u00adhost/": FORMAT,
    "https://local\u200bhost/": FORMAT,
    "https://%31%32%37.0.0.1/": FORMAT,
    "https://127.0.0.1%00.media.example/": FORMAT,
    "https://127.0.0.1%2f@media.example/": FORMAT,
    # user names, backslashes, white space: two parsers, two hosts
    "https://media.example@127.0.0.1/": FORMAT,
    "https://127.0.0.1:443@media.example/": FORMAT,
    "https://user:password@media.example/": FORMAT,
    "https://@127.0.0.1/": FORMAT,
    "https://media.example\\@127.0.0.1/": FORMAT,
    "https:\\\\127.0.0.1\\": FORMAT,
    "https://127.0.0.1\\.media.example/": FORMAT,
    "https://127.0.0.1\t/": FORMAT,
    "https://127.0.0.1\r\n/": FORMAT,
    "ht\ntps://127.0.0.1/": FORMAT,
    " https://127.0.0.1/": FORMAT,
    "https://127.0.0.1 /": FORMAT,
    "https://127.0.0.1\x00/": FORMAT,
    "https://127.0.0.1#@media.example/": BLOCKED,
    "https://127.0.0.1?@media.example/": BLOCKED,
    # no URL of a host at all
    "https:///etc/passwd": FORMAT,
    "https:127.0.0.1": FORMAT,
    "https:/127.0.0.1/": FORMAT,
    "//127.0.0.1/": FORMAT,
    "127.0.0.1": FORMAT,
    "": FORMAT,
    "https://": FORMAT,
    "https://.media.example/": FORMAT,
    "https://media..example/": FORMAT,
    "https://-media.example/": FORMAT,
    "https://" + "a" * 64 + ".example/": FORMAT,
    "https://media.example/" + "a" * 9_000: FORMAT,
    # ports
    "https://media.example:0/": FORMAT,
    "https://media.example:22/": FORMAT,
    "https://media.example:25/": FORMAT,
    "https://media.example:6667/": FORMAT,
    "https://media.example:65536/": FORMAT,
    "https://media.example:99999999999999999999/": FORMAT,
    "https://media.example:-1/": FORMAT,
    "https://media.example:80:443/": FORMAT,
    # other protocols
    "file:///etc/passwd": "INVALID_PROTOCOL",
    "ftp://127.0.0.1/": "INVALID_PROTOCOL",
    "gopher://127.0.0.1:6379/_FLUSHALL": "INVALID_PROTOCOL",
    "dict://127.0.0.1:11211/stats": "INVALID_PROTOCOL",
    "data:image/png;base64,AAAA": "INVALID_PROTOCOL",
    "javascript:alert(1)": "INVALID_PROTOCOL",
    "http+unix://%2fvar%2frun%2fdocker.sock/": "INVALID_PROTOCOL",
    "http://media.example/": "PRODUCTION_HTTPS_REQUIRED",
    "http://127.0.0.1/": "PRODUCTION_HTTPS_REQUIRED",
    # names whose addresses are private, wholly or in part
    "https://private.example/": BLOCKED,
    "https://mixed.example/": BLOCKED,
    "https://mixed6.example/": BLOCKED,
    "https://mapped.example/": BLOCKED,
    "https://metadata.google.internal/computeMetadata/v1/": BLOCKED,
    "https://zone.example/": BLOCKED,
    "https://127.0.0.1.nip.example/": BLOCKED,
    "https://nowhere.example/": "DNS_RESOLUTION_FAILED",
}  # fmt: skip


@pytest.fixture
def hostile_dns(dns: Dns) -> Dns:
    dns.say("private.example", ["10.0.0.1"])
    dns.say("mixed.example", ["8.8.8.8", "192.168.0.1"])
    dns.say("mixed6.example", ["8.8.8.8", "::1"])
    dns.say("mapped.example", ["::ffff:127.0.0.1"])
    dns.say("metadata.google.internal", ["169.254.169.254"])
    dns.say("zone.example", ["fe80::1%2"])
    dns.say("127.0.0.1.nip.example", ["127.0.0.1"])
    return dns


@pytest.mark.parametrize("url", HOSTILE)
async def test_a_hostile_url_is_refused_and_connects_nowhere(
    url: str, hostile_dns: Dns, certificates: Certificates, connections: list[str]
) -> None:
    fetcher = Fetcher(FetchPolicy(), tls=certificates.client)
    with pytest.raises(FetchRefused) as refused:
        await fetcher.fetch(url, most_bytes=100, total_s=5)
    await fetcher.aclose()
    assert refused.value.code == HOSTILE[url]
    assert connections == []
    shown = f"{refused.value} {refused.value!r}"
    assert not any(word in shown for word in ("127.0", "example", "169.254", "::1"))


def test_the_list_is_long_enough() -> None:
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("url", [url for url, code in HOSTILE.items() if code == BLOCKED and "example" not in url])
async def test_an_address_is_refused_where_the_connection_is_made_even_if_the_url_was_not_checked(
    url: str, dns: Dns, connections: list[str]
) -> None:
    host = url.removeprefix("https://").partition("/")[0].partition("#")[0].partition("?")[0].strip("[]")
    dns.say("127。0。0。1", ["127.0.0.1"])
    dns.say("127．0．0．1", ["127.0.0.1"])
    with pytest.raises(FetchRefused):
        await VettedBackend(FetchPolicy()).connect_tcp(host, 443, 5)
    assert connections == []


@pytest.mark.parametrize(
    ("url", "code"),
    {
        "http://media.example/": "REMOTE_HTTP_FORBIDDEN",
        "http://10.0.0.1/": "REMOTE_HTTP_FORBIDDEN",
        "http://localhost.media.example/": "REMOTE_HTTP_FORBIDDEN",
        "https://169.254.169.254/": BLOCKED,
        "https://[fe80::1]/": BLOCKED,
        "https://[fd00:ec2::254]/": BLOCKED,
        "https://[::ffff:169.254.169.254]/": BLOCKED,
        "https://metadata.google.internal/": BLOCKED,
        "ftp://localhost/": "INVALID_PROTOCOL",
        "http://user@localhost/": FORMAT,
        "http://localhost:22/": FORMAT,
    }.items(),
)
async def test_development_refuses_metadata_and_plain_http_of_other_machines(
    url: str, code: RefusalCode, hostile_dns: Dns, certificates: Certificates, connections: list[str]
) -> None:
    fetcher = Fetcher(FetchPolicy("development"), tls=certificates.client)
    with pytest.raises(FetchRefused) as refused:
        await fetcher.fetch(url, most_bytes=100, total_s=5)
    await fetcher.aclose()
    assert (refused.value.code, connections) == (code, [])


@pytest.mark.parametrize("url", ["https://10.0.0.1/", "https://private.example/", "http://localhost/"])
async def test_development_may_be_strict_about_addresses(
    url: str, hostile_dns: Dns, certificates: Certificates, connections: list[str]
) -> None:
    hostile_dns.say("localhost", ["127.0.0.1"])
    fetcher = Fetcher(FetchPolicy("development", strict_addresses=True), tls=certificates.client)
    with pytest.raises(FetchRefused) as refused:
        await fetcher.fetch(url, most_bytes=100, total_s=5)
    await fetcher.aclose()
    assert (refused.value.code, connections) == (BLOCKED, [])


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1",
        "172.32.0.1",
        "192.0.1.1",
        "2606:4700:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ],
)
def test_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    ("url", "code"),
    {
        "http://10.0.0.1:8000/": None,
        "http://localhost:11434/": None,
        "https://private.example/": None,
        "http://169.254.169.254/": BLOCKED,
        "https://[fd00:ec2::254]/": BLOCKED,
        "http://metadata.google.internal/": BLOCKED,
        "ftp://localhost/": "INVALID_PROTOCOL",
        "http://user@localhost/": FORMAT,
    }.items(),
)
async def test_in_ones_own_network_everything_is_reached_but_metadata(
    url: str, code: RefusalCode | None, hostile_dns: Dns
) -> None:
    policy = FetchPolicy("own_network")
    hostile_dns.say("localhost", ["127.0.0.1"])
    refused: RefusalCode | None = None
    try:
        assert await vetted(checked(url, policy).host, 80, policy)
    except FetchRefused as error:
        refused = error.code
    assert refused == code


METADATA = (
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:c1::a9fe:a9fe",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200",
    # 169.254.169.254 inside IPv6: mapped, compatible, SIIT, NAT64, local NAT64 in its four places, 6to4, ISATAP, Teredo
    "::ffff:a9fe:a9fe",
    "::a9fe:a9fe",
    "::ffff:0:a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:0:a9:fea9:fe00:0",
    "64:ff9b:1:a9:fe:a9fe::",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:a9fe:a9fe::1",
    "fd12::5efe:a9fe:a9fe",
    "2606:4700::200:5efe:a9fe:a9fe",
    "2001:0:a9fe:a9fe::",
    "2001:0:808:808:0:0:5601:5601",
    # others of those addresses inside IPv6
    "64:ff9b:1::6464:64c8",
    "2002:a83f:8110::1",
)
"""Where clouds keep their metadata, and other words for it."""

POLICIES = (FetchPolicy(), FetchPolicy("development"), FetchPolicy("own_network"))


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.mode for policy in POLICIES])
@pytest.mark.parametrize("text", METADATA)
async def test_metadata_are_connected_to_by_no_policy_in_whatever_words(
    text: str, policy: FetchPolicy, dns: Dns, connections: list[str]
) -> None:
    dns.say("endpoint.example", [text])
    dns.say("mixed.example", ["127.0.0.1", text])
    for host in (text, "endpoint.example", "mixed.example"):
        with pytest.raises(FetchRefused) as refused:
            await VettedBackend(policy).connect_tcp(host, 443, 5)
        assert refused.value.code == BLOCKED
    with pytest.raises(FetchRefused):
        checked(f"https://{f'[{text}]' if ':' in text else text}/", policy)
    assert connections == []


@pytest.mark.parametrize(
    "text",
    ["::1", "10.0.0.1", "fd12::1", "64:ff9b:1::a00:1", "64:ff9b:1:a00:0:100::", "2002:a00:1::1", "fd12::5efe:a00:1"],
)
async def test_other_addresses_of_ones_own_network_are_allowed_in_whatever_words(text: str) -> None:
    assert await vetted(text, 443, FetchPolicy("own_network")) == [ip_address(text)]
    assert not is_public(ip_address(text))


@given(st.ip_addresses(v=4), st.sampled_from(("2606:4700::5efe:0:0", "2a00:1450::200:5efe:0:0")))
def test_an_isatap_address_is_public_if_the_address_inside_is(inside: IPv4Address, prefix: str) -> None:
    assert is_public(ip_address(int(ip_address(prefix)) | int(inside))) == is_public(inside)


@pytest.mark.parametrize("code", get_args(RefusalCode))
def test_every_refusal_says_what_is_wrong_and_what_to_do(code: RefusalCode) -> None:
    error = FetchRefused(code)
    assert re.fullmatch(rf"the address may not be fetched: [a-z,/' ]{{10,}} \({code}\)", str(error))
    assert re.fullmatch(r"[A-Z].{5,}\.", error.remedy)
