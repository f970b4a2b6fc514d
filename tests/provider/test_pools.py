"""How calls reach their providers: certificates, proxies, deadlines of the connection, and providers that are away."""

import asyncio
import base64
import datetime
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.provider import pools as pools_module
from services.provider.failures import AddressForbidden
from services.provider.httpx_transport import HttpxTransport
from services.provider.pools import Pools
from services.provider.transport import Call, ConnectFailed, ConnectionBroken
from services.runtime.errors import ConfigurationError
from services.runtime.fetching.addresses import Address
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(OK)
    await writer.drain()
    writer.close()


async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def transport(**network: Any) -> AsyncIterator[HttpxTransport]:
    made = HttpxTransport(Pools(**({"proxy": None, "ca_file": None} | network)))
    try:
        yield made
    finally:
        await made.aclose()


async def status(by: HttpxTransport, url: str, connect_s: float = 5.0) -> int:
    response = await by.open(Call(url, {}, b"{}", connect_s))
    assert [chunk async for chunk in response.chunks()] == [b"ok"]
    await response.aclose()
    return response.status


@pytest.fixture
def black_hole() -> Iterator[str]:
    """An address that takes no connection and refuses none: a listener whose queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        queued: list[socket.socket] = []
        for _ in range(8):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
            queued.append(one)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        for one in queued:
            one.close()


@pytest.fixture
def own_ca(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate of one's own for 127.0.0.1 and endpoint.test: the file that clients trust, and the server's side."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "own")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("endpoint.test")]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    ca_file, key_file = tmp_path / "ca.pem", tmp_path / "key.pem"
    ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(ca_file, key_file)
    return ca_file, context


async def test_certificates_of_ones_own_are_trusted_where_they_are_set(own_ca: tuple[Path, ssl.SSLContext]) -> None:
    ca_file, tls = own_ca
    async with serving(answers, tls) as port:
        async with transport() as by:
            with pytest.raises(ConnectFailed, match="CERTIFICATE_VERIFY_FAILED"):
                await status(by, f"https://127.0.0.1:{port}/")
        async with transport(ca_file=ca_file) as by:
            assert await status(by, f"https://127.0.0.1:{port}/") == 200


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_certificate_file_that_cannot_be_read_is_named(tmp_path: Path, content: str | None) -> None:
    ca_file = tmp_path / "ca.pem"
    if content:
        ca_file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"ca\.pem") as error:
        Pools.of(Settings(provider_ca_file=ca_file))
    assert "ODRADEK_PROVIDER_CA_FILE" in error.value.remedy


async def test_calls_go_through_the_proxy_with_its_password_which_is_not_shown() -> None:
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)
        await writer.drain()
        writer.close()

    async with serving(proxy) as port:
        settings = Settings(provider_proxy=f"http://user:hush-hush@127.0.0.1:{port}")
        made = Pools.of(settings)
        assert "hush" not in f"{settings!r} {made!r}"
        assert await status(HttpxTransport(made), "http://provider.invalid/v1") == 200
        await made.aclose()
    assert asked[0].startswith(b"POST http://provider.invalid/v1 HTTP/1.1\r\n")
    assert b"proxy-authorization: basic " + base64.b64encode(b"user:hush-hush").lower() in asked[0].lower()


async def test_a_proxy_that_refuses_is_no_broken_stream(own_ca: tuple[Path, ssl.SSLContext]) -> None:
    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with serving(proxy) as port, transport(proxy=f"http://127.0.0.1:{port}") as by:
        with pytest.raises(ConnectFailed, match="407"):
            await status(by, "https://provider.invalid/")


@pytest.mark.parametrize("proxy", ["ftp://user:hush-hush@host", "http://user:hush-hush@[::bad", "user:hush-hush"])
def test_a_proxy_that_cannot_be_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        Pools.of(Settings(provider_proxy=proxy))
    assert "hush" not in f"{error.value!r} {error.value.remedy} {error.value.__cause__}"


@pytest.mark.parametrize("what", ["tcp", "tls", "proxy"])
async def test_a_connection_that_does_not_come_about_is_given_up_in_time(
    what: str, black_hole: str, own_ca: tuple[Path, ssl.SSLContext]
) -> None:
    async with serving(hangs) as port:
        url, network = {
            "tcp": (black_hole, {}),
            "tls": (f"https://127.0.0.1:{port}/", {}),
            "proxy": ("https://provider.invalid/", {"proxy": f"http://127.0.0.1:{port}"}),
        }[what]
        async with transport(**network) as by:
            with pytest.raises(ConnectFailed, match=r"no connection within 0\.1 s"):
                await status(by, url, connect_s=0.1)


async def test_the_deadline_of_the_connection_ends_with_the_connection() -> None:
    late = asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asyncio.get_running_loop().call_later(0.2, late.set)
        await late.wait()
        writer.write(OK)
        writer.close()

    async with serving(slow) as port, transport() as by:
        assert await status(by, f"http://127.0.0.1:{port}/", connect_s=0.1) == 200
    assert late.is_set()


async def test_a_connection_that_breaks_after_the_request_is_told_apart() -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with serving(breaks) as port, transport() as by:
        with pytest.raises(ConnectionBroken):
            await status(by, f"http://127.0.0.1:{port}/")


async def test_providers_that_are_away_or_hang_do_not_slow_another(black_hole: str) -> None:
    taken: list[bytes] = []
    all_taken = asyncio.Event()

    async def takes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(await reader.readuntil(b"\r\n\r\n"))
        if len(taken) == 50:
            all_taken.set()
        await hangs(reader, writer)

    async with serving(answers) as port, serving(takes) as silent, transport() as by:
        healthy, hanging = f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{silent}/"

        async def fastest() -> float:
            spent: list[float] = []
            for _ in range(20):
                began = time.perf_counter()
                await status(by, healthy)
                spent.append(time.perf_counter() - began)
            return min(spent)

        alone = await fastest()
        stuck = [asyncio.create_task(status(by, url, 60.0)) for url in (black_hole, hanging) * 50]
        await all_taken.wait()
        beside = await fastest()
        assert not any(task.done() for task in stuck)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
    assert beside < 3 * alone + 0.05


async def test_of_many_origins_those_that_rest_are_closed_and_none_that_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pools_module, "MOST_POOLS", 3)

    async def streams(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nok")
        await writer.drain()
        await reader.read()
        writer.close()

    async with serving(streams) as long, transport() as by:
        response = await by.open(Call(f"http://127.0.0.1:{long}/", {}, b"", 5.0))
        chunks = response.chunks()
        assert await anext(chunks) == b"ok"
        for _ in range(6):
            async with serving(answers) as port:
                assert await status(by, f"http://127.0.0.1:{port}/") == 200
        assert len(by._pools._pools) == 3
        waiting = asyncio.create_task(anext(chunks))
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await chunks.aclose()
        await response.aclose()
        assert {pool.users for pool in by._pools._pools.values()} == {0}


@pytest.fixture
def hanging_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Names below hang.test are never found, nor told to be unknown."""
    release, real = threading.Event(), socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        if str(host).endswith("hang.test"):
            release.wait()
        return real(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    release.set()


@pytest.mark.usefixtures("hanging_names")
async def test_names_of_custom_endpoints_that_hang_do_not_keep_another_provider_from_being_found() -> None:
    async with serving(answers) as port, transport() as by:
        calls = [Call(f"https://{number % 40}.hang.test/", {}, b"", 60.0, policy=FetchPolicy()) for number in range(80)]
        stuck = [asyncio.create_task(by.open(call)) for call in calls]
        assert await status(by, f"http://localhost:{port}/", connect_s=5.0) == 200
        assert not any(task.done() for task in stuck)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


async def test_a_custom_endpoint_is_called_directly_on_the_address_that_was_vetted(
    own_ca: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **k: real("127.0.0.1" if host == "endpoint.test" else host, *a, **k)
    )
    judged: list[str] = []

    def public(address: Address) -> bool:
        judged.append(str(address))
        return True

    ca_file, tls = own_ca
    async with serving(answers, tls) as port, transport(ca_file=ca_file, public=public) as by:
        response = await by.open(Call(f"https://endpoint.test:{port}/", {}, b"", 5.0, policy=FetchPolicy()))
        assert response.status == 200
        await response.aclose()
    assert judged == ["127.0.0.1"]


async def test_a_name_in_ones_own_network_that_leads_to_metadata_is_not_called_though_it_was_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    real, leads_to = socket.getaddrinfo, ["127.0.0.1"]

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        if host != "endpoint.test":
            return real(host, *arguments, **options)
        return [entry for text in leads_to for entry in real(text, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    async with serving(answers) as port, transport() as by:
        call = Call(f"http://endpoint.test:{port}/", {}, b"", 5.0, policy=FetchPolicy("own_network"))
        response = await by.open(call)
        assert [chunk async for chunk in response.chunks()] == [b"ok"]
        await response.aclose()
        for found in (["169.254.169.254"], ["127.0.0.1", "fd00:ec2::254"]):
            leads_to[:] = found
            with pytest.raises(AddressForbidden, match="metadata"):
                await by.open(call)
