"""The parser against the EventSource of a real Chromium: the same bytes in, the same events out.

Where we keep more than a browser does, `test_what_we_keep_and_a_browser_drops` lists it.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Page, async_playwright

from services.normalizer.sse import SseParser
from services.normalizer.sse_event import SseEvent
from services.sandbox.brokers.ports import free_port

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
STREAMS = 200
WITHIN_S = 120
NAMES = ("message", "error", "open", "delta", "message_stop", "é", "a b")

LINES = (
    *(
        b"data: a",
        b"data:b",
        b"data",
        b"data:",
        b"data:  two blanks",
        b"data: a: b",
        b"data : no field",
        b" data: no field",
    ),
    *(
        b"DATA: no field",
        "data: é🌍".encode(),
        "data: a\u2028b\u2029c\u0085d\x0be\x0cf".encode(),
        b"data: \xff\xfe\xc3",
    ),
    *(b"data: \xf0\x9f\x8c", b"data: nul\0nul", b'data: {"x":"\\ud83d"}', b"\xef\xbb\xbfdata: behind a mark"),
    *(
        b": comment",
        b":",
        b"event: delta",
        b"event:delta",
        b"event",
        b"event:",
        b"event: message_stop",
        b"event: error",
    ),
    *(
        "event: é".encode(),
        b"event: a b",
        b"id: 1",
        b"id:2",
        b"id",
        b"id: n\0l",
        "id: ü".encode(),
        b"junk",
        b"foo: bar",
    ),
    *(b"retry: 10", b"retry: 1x", b"retry:", b"retry: 99999999999999999999999"),
)
ENDS = (b"\n", b"\n", b"\r", b"\r\n", b"\n\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n", b"\r\n\n")

PAGE = """
<script>
const names = %s;
function read(number) {
  return new Promise(resolve => {
    const events = [];
    const source = new EventSource("/streams/" + number);
    const take = event => {
      if (event instanceof MessageEvent) events.push([event.type, event.data, event.lastEventId]);
      else if (event.type === "error") { source.close(); resolve(events); }
    };
    for (const name of names) source.addEventListener(name, take);
  });
}
</script>
"""

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        not os.path.exists(CHROMIUM),
        reason=f"{CHROMIUM} is not there: apt-get install --no-install-recommends chromium",
    ),
]


def stream_of(number: int) -> tuple[bytes, list[bytes]]:
    """A stream's bytes, and the pieces in which they are sent."""
    dice = Random(f"browser {number}")
    raw = b"\xef\xbb\xbf" if dice.random() < 0.3 else b""
    raw += b"".join(dice.choice(LINES) + dice.choice(ENDS) for _ in range(dice.randrange(40)))
    cuts = sorted(dice.randrange(len(raw) + 1) for _ in range(dice.randrange(6)))
    edges = [0, *cuts, len(raw)]
    return raw, [raw[start:end] for start, end in itertools.pairwise(edges) if start < end]


def ours(pieces: list[bytes]) -> list[list[str]]:
    parser = SseParser()
    return [as_a_browser_says(event) for piece in pieces for event in parser.feed(piece)]


def as_a_browser_says(event: SseEvent) -> list[str]:
    return [part.decode("utf-8", "replace") for part in (event.name or b"message", event.data, event.last_id)]


@dataclass
class Browser:
    """Reads streams by number."""

    page: Page

    async def read(self, number: int | str) -> list[list[str]]:
        return await self.page.evaluate("number => read(number)", number)


async def _stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    name = request.match_info["number"]
    for piece in stream_of(int(name))[1] if name.isdigit() else [bytes.fromhex(name.removeprefix("x"))]:
        await response.write(piece)
        # Nagle is off, and the loop turns once: most pieces become a read of their own.
        await asyncio.sleep(0)
    return response


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async def index(_: web.Request) -> web.Response:
        return web.Response(text=PAGE % list(NAMES), content_type="text/html")

    application = web.Application()
    application.add_routes([web.get("/", index), web.get("/streams/{number}", _stream)])
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = await chromium.new_page()
        await page.goto(f"http://127.0.0.1:{port}/")
        yield Browser(page)
        await chromium.close()
    await runner.cleanup()


async def test_a_browser_finds_the_same_events_in_the_same_bytes(browser: Browser) -> None:
    found = 0
    async with asyncio.timeout(WITHIN_S):
        for number in range(STREAMS):
            raw, pieces = stream_of(number)
            expected = await browser.read(number)
            assert ours(pieces) == ours([raw]) == expected, raw
            found += len(expected)
    assert found > STREAMS


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b"data: a\n\ndata: b", [b"b"]),
        (b"data: a\n\ndata: b\n", [b"b"]),
        (b"data: a\n\nevent: delta\ndata: b\ndata: c\r", [b"b\nc"]),
        (b'data: a\n\n{"error":\n{}}\n', [b'{"error":\n{}}']),
        (b'data: a\n\nerror: {"code": 400}\n', [b'{"code": 400}']),
    ],
)
async def test_what_we_keep_and_a_browser_drops(browser: Browser, raw: bytes, kept: list[bytes]) -> None:
    parser = SseParser()
    events = parser.feed(raw)
    assert await browser.read(f"x{raw.hex()}") == [as_a_browser_says(event) for event in events]
    assert [event.data for event in parser.close()] == kept
