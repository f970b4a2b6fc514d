"""A fetch over real TLS: the name stays the name, the address is the vetted one, and everything has a bound."""

import asyncio
import gzip
import logging
import socket

import httpx
import pytest
from aiohttp import web

from services.runtime.fetching.connecting import VettedBackend
from services.runtime.fetching.redirects import Hop, next_hop
from services.runtime.fetching.refusals import (
    FetchRefused,
    InvalidResponse,
    NetworkFailed,
    SizeExceeded,
    TimedOut,
)
from services.runtime.fetching.transport import VettedTransport
from services.runtime.fetching.urls import FetchPolicy, checked
from tests.runtime.fetching.conftest import (
    HOST,
    PRIVATE,
    PUBLIC,
    Certificates,
    Dns,
    MakeFetcher,
    Serve,
    public_in_tests,
)


async def _hello(request: web.Request) -> web.Response:
    return web.Response(body=b"hello", content_type="image/png", headers={"x-host": request.host})


async def test_the_connection_goes_to_the_vetted_address_and_the_server_sees_the_name(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    port = await serve(_hello)
    dns.say(HOST, [PUBLIC])
    async with make_fetcher().open("GET", f"https://{HOST}:{port}/", total_s=5) as response:
        assert response.headers["x-host"] == f"{HOST}:{port}"
        assert response.extensions["network_stream"].get_extra_info("server_addr")[0] == PUBLIC
    assert connections == [PUBLIC]
    assert dns.asked == [HOST]


async def test_a_name_that_turns_private_after_the_check_is_never_followed(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    reached: list[str] = []

    async def trap(request: web.Request) -> web.Response:
        reached.append(request.path)
        return web.Response()

    port = await serve(_hello)
    await serve(trap, PRIVATE, port)
    dns.say(HOST, [PUBLIC], [PRIVATE])
    fetcher = make_fetcher()
    assert (await fetcher.fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)).body == b"hello"
    again = make_fetcher()
    with pytest.raises(FetchRefused) as refused:
        await again.fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert refused.value.code == "PRODUCTION_BLOCKED_ADDRESS"
    assert (connections, reached) == ([PUBLIC], [])


async def test_the_trap_of_these_tests_would_be_reached_without_the_guard(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    port = await serve(_hello, PRIVATE)
    dns.say(HOST, [PRIVATE])
    fetched = await make_fetcher(public=lambda _: True).fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert (fetched.body, connections) == (b"hello", [PRIVATE])


async def test_a_certificate_of_another_name_is_not_accepted(serve: Serve, dns: Dns, make_fetcher: MakeFetcher) -> None:
    port = await serve(_hello)
    dns.say("other.example", [PUBLIC])
    with pytest.raises(NetworkFailed):
        await make_fetcher().fetch(f"https://other.example:{port}/", most_bytes=10, total_s=5)


async def test_the_next_vetted_address_is_tried_where_one_refuses_connections(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    port = await serve(_hello)
    dns.say(HOST, [PRIVATE, PUBLIC])
    fetched = await make_fetcher(public=lambda _: True).fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert (fetched.body, connections) == (b"hello", [PRIVATE, PUBLIC])


async def test_no_address_left_is_a_failure_of_the_network(dns: Dns, make_fetcher: MakeFetcher) -> None:
    with socket.socket() as closed:
        closed.bind((PUBLIC, 0))
        dns.say(HOST, [PUBLIC])
        with pytest.raises(NetworkFailed):
            await make_fetcher().fetch(f"https://{HOST}:{closed.getsockname()[1]}/", most_bytes=10, total_s=5)


@pytest.mark.parametrize(
    ("location", "code"),
    {
        f"https://[{PRIVATE}]:{{port}}/": "PRODUCTION_BLOCKED_ADDRESS",
        "https://private.example:{port}/": "PRODUCTION_BLOCKED_ADDRESS",
        "//private.example:{port}/": "PRODUCTION_BLOCKED_ADDRESS",
        "https://169.254.169.254/": "PRODUCTION_BLOCKED_ADDRESS",
        f"http://{HOST}:{{port}}/": "PRODUCTION_HTTPS_REQUIRED",
        "file:///etc/passwd": "INVALID_PROTOCOL",
        "gopher://private.example/": "INVALID_PROTOCOL",
        "javascript:alert(1)": "INVALID_PROTOCOL",
        "https://localhost:{port}/": "PRODUCTION_LOCALHOST_FORBIDDEN",
        "https://user@private.example/": "INVALID_FORMAT",
        "https://2130706433:{port}/": "INVALID_FORMAT",
    }.items(),
)
async def test_a_redirect_is_checked_like_the_first_url(
    location: str, code: str, serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    reached: list[str] = []

    async def trap(request: web.Request) -> web.Response:
        reached.append(request.path)
        return web.Response()

    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"location": location.format(port=request.url.port)})

    port = await serve(redirect)
    await serve(trap, PRIVATE, port)
    dns.say(HOST, [PUBLIC])
    dns.say("private.example", [PRIVATE])
    with pytest.raises(FetchRefused) as refused:
        await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert (refused.value.code, reached, connections) == (code, [], [PUBLIC])


@pytest.mark.parametrize(("hops", "arrives"), [(3, True), (4, False)])
async def test_three_redirects_are_followed_and_no_more(
    hops: int, arrives: bool, serve: Serve, dns: Dns, make_fetcher: MakeFetcher
) -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        left = int(request.match_info["path"])
        return (
            web.Response(body=b"there") if left == 0 else web.Response(status=307, headers={"location": f"/{left - 1}"})
        )

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    fetching = make_fetcher().fetch(f"https://{HOST}:{port}/{hops}", most_bytes=10, total_s=5)
    if arrives:
        assert (await fetching).body == b"there"
    else:
        with pytest.raises(InvalidResponse):
            await fetching
    assert len(asked) == 4


async def test_a_post_becomes_a_get_without_its_body_and_without_keys_at_another_origin(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher
) -> None:
    seen: list[tuple[str, bytes, str | None]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.method, await request.read(), request.headers.get("authorization")))
        if request.path == "/first":
            return web.Response(status=302, headers={"location": f"https://cdn.{HOST}:{request.url.port}/second"})
        return web.Response()

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    dns.say(f"cdn.{HOST}", [PUBLIC])
    async with make_fetcher().open(
        "POST", f"https://{HOST}:{port}/first", total_s=5, headers={"Authorization": "Bearer k"}, content=b"{}"
    ) as response:
        assert response.status_code == 200
    assert seen == [("POST", b"{}", "Bearer k"), ("GET", b"", None)]


@pytest.mark.parametrize(
    ("method", "status", "expected"),
    [
        ("POST", 301, ("GET", None)),
        ("POST", 302, ("GET", None)),
        ("POST", 303, ("GET", None)),
        ("POST", 307, ("POST", b"x")),
        ("POST", 308, ("POST", b"x")),
        ("GET", 303, ("GET", None)),
        ("HEAD", 301, ("HEAD", None)),
        ("HEAD", 303, ("HEAD", None)),
    ],
)
def test_the_method_after_a_redirect(method: str, status: int, expected: tuple[str, bytes | None]) -> None:
    policy = FetchPolicy()
    content = b"x" if method == "POST" else None
    hop = Hop(method, checked("https://a.example/x/y", policy), httpx.Headers({"content-type": "a/b"}), content)  # type: ignore[arg-type]
    after = next_hop(hop, status, "../z", policy)
    assert (after.method, after.content, str(after.url)) == (*expected, "https://a.example/z")
    assert ("content-type" in after.headers) == (method == after.method and status != 303) or method == "HEAD"


@pytest.mark.parametrize("location", [None, "", "/a b", "\\\\evil", "/a\tb"])
def test_a_redirect_to_nowhere_is_no_answer(location: str | None) -> None:
    hop = Hop("GET", checked("https://a.example/", FetchPolicy()), httpx.Headers())
    with pytest.raises(InvalidResponse):
        next_hop(hop, 302, location, FetchPolicy())


async def test_the_size_is_bounded_as_known_as_declared_and_as_it_comes(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str]
) -> None:
    sent = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        if request.path == "/declared":
            return web.Response(body=b"x" * 101)
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(10_000):
            await response.write(b"x" * 1_000)
            sent += 1_000
        return response

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    fetcher = make_fetcher()
    with pytest.raises(SizeExceeded, match="known"):
        await fetcher.fetch(f"https://{HOST}:{port}/declared", most_bytes=100, total_s=5, known_bytes=101)
    assert connections == []
    with pytest.raises(SizeExceeded, match="content-length"):
        await fetcher.fetch(f"https://{HOST}:{port}/declared", most_bytes=100, total_s=5)
    with pytest.raises(SizeExceeded):
        await fetcher.fetch(f"https://{HOST}:{port}/endless", most_bytes=100, total_s=5)
    assert sent < 10_000_000
    fetched = await fetcher.fetch(f"https://{HOST}:{port}/declared", most_bytes=101, total_s=5)
    assert len(fetched.body) == 101


async def test_time_is_bounded_as_a_whole_however_steadily_bytes_come(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher
) -> None:
    gone = asyncio.Event()

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x")
                await asyncio.sleep(0.01)
        finally:
            gone.set()

    port = await serve(drip)
    dns.say(HOST, [PUBLIC])
    with pytest.raises(TimedOut):
        await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=10**9, total_s=0.3)
    await asyncio.wait_for(gone.wait(), 5)


async def test_a_resolver_that_hangs_is_bounded_too(make_fetcher: MakeFetcher) -> None:
    async def hang(host: str, port: int) -> list[object]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(TimedOut):
        await make_fetcher(resolver=hang).fetch(f"https://{HOST}/", most_bytes=10, total_s=0.2)


async def test_a_body_in_a_content_coding_is_refused_unread(serve: Serve, dns: Dns, make_fetcher: MakeFetcher) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.headers["accept-encoding"])
        return web.Response(body=bomb, headers={"content-encoding": "gzip"})

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    with pytest.raises(InvalidResponse, match="coding"):
        await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=10**6, total_s=5)
    assert asked == ["identity"]


@pytest.mark.parametrize("status", [204, 206, 304, 401, 403, 404, 410, 500])
async def test_only_a_200_is_the_thing(status: int, serve: Serve, dns: Dns, make_fetcher: MakeFetcher) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=status)

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    with pytest.raises(InvalidResponse) as failed:
        await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert failed.value.status == status


async def test_a_body_that_breaks_off_is_a_failure_of_the_network(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-length": "100"})
        await response.prepare(request)
        await response.write(b"x" * 10)
        assert request.transport is not None
        request.transport.abort()
        return response

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    with pytest.raises(NetworkFailed):
        await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=1_000, total_s=5)


async def test_a_proxy_of_the_environment_is_not_used(
    serve: Serve, dns: Dns, make_fetcher: MakeFetcher, connections: list[str], proxy_of_the_environment: None
) -> None:
    port = await serve(_hello)
    dns.say(HOST, [PUBLIC])
    fetched = await make_fetcher().fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert (fetched.body, connections) == (b"hello", [PUBLIC])


async def test_cookies_are_not_kept(serve: Serve, dns: Dns, make_fetcher: MakeFetcher) -> None:
    cookies: list[str | None] = []

    async def handler(request: web.Request) -> web.Response:
        cookies.append(request.headers.get("cookie"))
        return web.Response(headers={"set-cookie": "a=b"})

    port = await serve(handler)
    dns.say(HOST, [PUBLIC])
    fetcher = make_fetcher()
    for _ in range(2):
        await fetcher.fetch(f"https://{HOST}:{port}/", most_bytes=10, total_s=5)
    assert cookies == [None, None]


async def test_development_fetches_from_this_machine_over_plain_http(make_fetcher: MakeFetcher) -> None:
    app = web.Application()
    app.router.add_get("/", _hello)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, PUBLIC, 0).start()
    url = f"http://{PUBLIC}:{runner.addresses[0][1]}/"
    fetched = await make_fetcher(FetchPolicy("development")).fetch(url, most_bytes=10, total_s=5)
    await runner.cleanup()
    assert (fetched.body, fetched.media_type) == (b"hello", "image/png")


async def test_any_client_of_httpx_is_guarded_by_the_transport(
    serve: Serve, dns: Dns, certificates: Certificates, connections: list[str]
) -> None:
    port = await serve(_hello)
    dns.say(HOST, [PUBLIC])
    dns.say("private.example", [PRIVATE])
    transport = VettedTransport(VettedBackend(FetchPolicy(), public=public_in_tests), tls=certificates.client)
    async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
        assert (await client.get(f"https://{HOST}:{port}/")).content == b"hello"
        for host in ("private.example", f"[{PRIVATE}]", "0x7f000001.example", "2130706433"):
            with pytest.raises(FetchRefused):
                await client.get(f"https://{host}:{port}/")
    assert connections == [PUBLIC]


async def test_neither_an_error_nor_a_log_names_the_url(
    dns: Dns, make_fetcher: MakeFetcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    dns.say("hidden-name.example", [PUBLIC])
    with socket.socket() as closed:
        closed.bind((PUBLIC, 0))
        port = closed.getsockname()[1]
        with pytest.raises(NetworkFailed) as failed:
            await make_fetcher().fetch(f"https://hidden-name.example:{port}/hidden-path", most_bytes=10, total_s=5)
    assert "hidden" not in f"{failed.value} {failed.value!r} {failed.value.__cause__} {caplog.text}"
