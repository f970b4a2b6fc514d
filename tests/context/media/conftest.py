"""Images made on the spot, a server of media on this machine, and a resolver that may fetch from it."""

import asyncio
import io
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image

from schemas.chunks import Dialect
from schemas.context import (
    BlobRef,
    ContextPart,
    ImagePart,
    NeutralContext,
    StructuredContextItem,
    TextPart,
    VideoPart,
)
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.media import pictures
from services.context.media.decoding import Decoders
from services.context.media.resolving import MediaResolver
from services.runtime.blobs.folder import FolderStore
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings

FILES = Path(__file__).parent / "files"
HEIC = (FILES / "red-and-blue.heic").read_bytes()
"""64 x 48: red, with a blue upper left quarter."""


@pytest.fixture(scope="session", autouse=True)
def _prepared() -> None:
    pictures.prepare()


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def noise(width: int, height: int, seed: int = 1) -> Image.Image:
    """An image that no format makes small."""
    tile = Image.frombytes("RGB", (256, 256), random.Random(seed).randbytes(256 * 256 * 3))
    image = Image.new("RGB", (width, height))
    for x in range(0, width, 256):
        for y in range(0, height, 256):
            image.paste(tile.rotate((x // 256 + y // 256) * 90), (x, y))
    return image


def gif(frames: int, size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    """Frame n is a colour of its own."""
    images = [Image.new("RGB", size, (number * 7 % 256, number * 13 % 256, 100)) for number in range(frames)]
    return encoded(images[0], "GIF", save_all=True, append_images=images[1:], duration=50, **options)


def read(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def target(provider: ProviderName = "openai", dialect: Dialect = "openai-chat", **facts: Any) -> Target:
    return Target(provider, dialect, ModelFacts("model", **{"sees_images": True, **facts}))


OPENAI = target()
CLAUDE = target("anthropic", "anthropic")
GEMINI = target("google", "google", sees_videos=True, sees_youtube=True)
BLIND = target(sees_images=False)


def said(*parts: ContextPart | str, number: int = 1, **fields: Any) -> StructuredContextItem:
    made = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    fields = {"role": "user", "tag": "dialogue_history", "message_id": str(number), **fields}
    return StructuredContextItem(parts=made, **fields)


@dataclass
class MediaServer:
    """Serves what it is given, over plain http on this machine."""

    base: str = ""
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def image(self, name: str, data: bytes, media_type: str = "image/png", **fields: Any) -> ImagePart:
        self.files[name] = (data, media_type)
        return ImagePart(mime_type=media_type, uri=f"{self.base}/{name}", name=name, **fields)

    def video(self, name: str, data: bytes, media_type: str = "video/mp4", **fields: Any) -> VideoPart:
        self.files[name] = (data, media_type)
        return VideoPart(mime_type=media_type, uri=f"{self.base}/{name}", name=name, **fields)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        self.asked.append(name)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.gate.wait()
            if name not in self.files:
                return web.Response(status=404, text="hidden-words-of-the-server")
            data, media_type = self.files[name]
            return web.Response(body=data, content_type=media_type)
        finally:
            self.at_once -= 1


@pytest.fixture
async def server() -> AsyncIterator[MediaServer]:
    server = MediaServer()
    server.gate.set()
    app = web.Application()
    app.router.add_get("/{name:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


@dataclass
class Bench:
    """A resolver with a store of its own. It may always fetch from this machine, whatever the settings."""

    resolver: MediaResolver
    store: FolderStore

    async def resolve(self, target: Target, *items: StructuredContextItem, **fields: Any) -> list[ContextPart]:
        """All parts of the resolved context's items."""
        context = await self.resolver.resolve(NeutralContext(items=items, **fields), target)
        return [part for item in context.items for part in item.parts]

    async def bytes_of(self, part: ContextPart) -> bytes:
        assert isinstance(part, ImagePart | VideoPart)
        assert isinstance(part.blob, BlobRef)
        return b"".join([piece async for piece in self.store.read(part.blob)])


MakeBench = Callable[..., Awaitable[Bench]]


@pytest.fixture
async def make_bench(tmp_path: Path) -> AsyncIterator[MakeBench]:
    """`bench = await make_bench(environment="production", ...)`: the settings that are not the defaults."""
    async with AsyncExitStack() as stack:

        async def make(**settings: Any) -> Bench:
            store = FolderStore(tmp_path / "blobs", keep_s=3_600, most_bytes=settings.pop("most_bytes", 10**9))
            fetcher = Fetcher(FetchPolicy("development"))
            resolver = MediaResolver(Settings(**settings), fetcher, Decoders(1), store)
            stack.push_async_callback(resolver.aclose)
            return Bench(resolver, store)

        yield make
