"""HTTPS servers on this machine under public names, a resolver that says what a test wants, and a log of all connections."""

import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.runtime.fetching.addresses import Address
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.urls import FetchPolicy

PUBLIC = "127.0.0.1"
PRIVATE = "::1"
"""Both answer on every machine; the tests call one public and the other private."""
HOST = "media.example"

_connections: list[str] = []


def _note_connection(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        _connections.append(arguments[1][0])


sys.addaudithook(_note_connection)


@pytest.fixture
def connections() -> list[str]:
    """The addresses of all connections that this process begins, as the interpreter itself reports them."""
    _connections.clear()
    return _connections


@dataclass
class Dns:
    """What the machine's resolver answers: each question of a name takes the next answer, the last one stays."""

    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def say(self, name: str, *answers: list[str]) -> None:
        self.answers[name] = list(answers)

    def getaddrinfo(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            self.asked.append(host)
            answers = self.answers.get(host.removesuffix("."))
            if answers is None:
                raise socket.gaierror(socket.EAI_NONAME, "no such name") from None
            found = answers.pop(0) if len(answers) > 1 else answers[0]
        else:
            found = [str(address)]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (text, port, 0, 0))
            if ":" in text
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port))
            for text in found
        ]


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> Dns:
    """The machine's resolver, for every piece of code that asks it."""
    dns = Dns()
    monkeypatch.setattr(socket, "getaddrinfo", dns.getaddrinfo)
    return dns


@dataclass(frozen=True)
class Certificates:
    server: ssl.SSLContext
    client: ssl.SSLContext


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A certificate for HOST and its subdomains, and a context that trusts only that one."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST), x509.DNSName(f"*.{HOST}")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder: Path = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return Certificates(server, ssl.create_default_context(cafile=str(folder / "cert.pem")))


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[..., Awaitable[int]]


@pytest.fixture
async def serve(certificates: Certificates) -> AsyncIterator[Serve]:
    """`port = await serve(handler, address=PUBLIC, port=0)` answers HTTPS there."""
    async with AsyncExitStack() as stack:

        async def start(handler: Handler, address: str = PUBLIC, port: int = 0) -> int:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", handler)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, address, port, ssl_context=certificates.server).start()
            return int(runner.addresses[0][1])

        yield start


def public_in_tests(address: Address) -> bool:
    return str(address) == PUBLIC


MakeFetcher = Callable[..., Fetcher]


@pytest.fixture
async def make_fetcher(certificates: Certificates) -> AsyncIterator[MakeFetcher]:
    """`make_fetcher()` is one of production for which PUBLIC is a public address and nothing else."""
    async with AsyncExitStack() as stack:

        def make(policy: FetchPolicy | None = None, **options: Any) -> Fetcher:
            options = {"public": public_in_tests, "tls": certificates.client, **options}
            fetcher = Fetcher(policy or FetchPolicy(), **options)
            stack.push_async_callback(fetcher.aclose)
            return fetcher

        yield make


@pytest.fixture
def proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment, which nobody answers."""
    address = "http://127.0.0.1:9"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, address)
        monkeypatch.setenv(name.lower(), address)
