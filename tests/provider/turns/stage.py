"""Where a turn is played: context's rendering, the provider worker's streams, a real server, and the normalizer."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from schemas.attempts import AttemptPlan, Chosen
from schemas.chunks import ProcessedChunk
from schemas.context import NeutralContext
from schemas.generations import GenerationRequested
from schemas.inbox import Author
from schemas.prompts import ContextRead, ProviderRequest
from schemas.raw import RawEnd, RawSlice
from services.context.habits.table import habits_of
from services.context.models import Route
from services.context.prompting import prompt
from services.normalizer.endings import EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer
from tests.provider.turns.demands import Player, Refused, pieces
from tests.provider.turns.rows import Row

_READ = ContextRead(messages=("1000",), digest="0" * 64)
_CREDENTIALS = {"x-api-key": "anthropic", "x-goog-api-key": "google", "google-adc": "vertex", "bearer": "openai"}
_SECRETS = {"authorization", "x-api-key", "x-goog-api-key"}


@dataclass
class Server:
    """A real HTTP server in the provider's place; `key` is what its key header must hold."""

    player: Player
    key: str
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            stream = self._answer(request, orjson.loads(await request.read()))
        except Refused as error:
            body = self.player.refusal(str(error))
            return web.Response(status=400, body=body, content_type="application/json")
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces(stream):
            await response.write(piece)
        await response.write_eof()
        return response

    def _answer(self, request: web.Request, body: Any) -> bytes:
        shown = {name.lower(): value for name, value in request.headers.items()}
        needed = {"accept": "text/event-stream", "content-type": "application/json", **self.player.headers}
        wrong = {name for name, value in needed.items() if shown.get(name) != value}
        wrong |= {name for name in _SECRETS if (name in shown) != (name == self.player.key_header)}
        # What helps to tell calls apart on one's own machine is no business of a provider.
        wrong |= {name for name in shown if name.startswith("x-odradek")}
        if wrong or shown[self.player.key_header] != self.key:
            raise Refused(f"headers are not right: {sorted(wrong) or 'the key'}")
        return self.player.answer(body)


@asynccontextmanager
async def serving(player: Player, key: str) -> AsyncIterator[Server]:
    """The server; it answers at the player's path and query alone."""
    server = Server(player, key)
    app = web.Application()

    async def handle(request: web.Request) -> web.StreamResponse:
        address = urlsplit(player.url)
        if request.path_qs != (f"{address.path}?{address.query}" if address.query else address.path):
            return web.Response(status=404, body=player.refusal(f"nothing is at {request.path_qs}"))
        return await server.handle(request)

    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def generation(number: int) -> GenerationRequested:
    return GenerationRequested(
        channel_id="900",
        guild_id="10",
        turn="m1000",
        generation=number,
        message_id="1000",
        author=Author(id="1", name="Ada"),
        content="hello",
        deadline_ms=600_000,
        attempt=AttemptPlan(),
    )


def made_for(row: Row, request: GenerationRequested, context: NeutralContext) -> ProviderRequest:
    """The prompt, as the context worker makes it."""
    placement = habits_of(row.target).placement
    chosen = Chosen(
        provider=row.asked_as, model=row.target.model.codename, credential=_CREDENTIALS.get(placement, "openai")
    )
    return prompt(request, context, Route(chosen, row.target, placement, context.options), _READ)


@dataclass(frozen=True)
class Heard:
    """A whole stream: its chunks, and what they say together."""

    chunks: tuple[ProcessedChunk, ...]
    reply: Reply


@dataclass
class Stage:
    """One provider process that calls one row's server."""

    row: Row
    bench: Any
    server: Server
    generations: int = 0

    async def ask(self, context: NeutralContext) -> Heard:
        """The next call of the turn, from the context to the chunks of the reply."""
        self.generations += 1
        made = made_for(self.row, generation(self.generations), context)
        assert made.url == self.row.player.url
        address = urlsplit(made.url)
        here = made.url.replace(f"{address.scheme}://{address.netloc}", self.server.url, 1)
        await self.bench.run(made.model_copy(update={"url": here}))
        return self._heard()

    def _heard(self) -> Heard:
        """The recorded bytes through the normalizer, cut at odd places once more."""
        mine = [
            (raw, data) for _, raw, data in self.bench.raw() if raw.origin.generation == self.generations
        ]  # fmt: skip
        slices = [(raw, data) for raw, data in mine if isinstance(raw, RawSlice)]
        (end,) = [raw for raw, _ in mine if isinstance(raw, RawEnd)]
        body = b"".join(data for _, data in slices)
        assert (end.ending, end.http_status) == ("eof", 200), body.decode()
        first, _ = slices[0]
        normalizer = StreamNormalizer(
            first.origin.dialect,
            first.origin.model,
            provider=first.origin.provider,
            known_tools=first.verbatim_tools,
            http_status=first.http_status,
            content_type=first.content_type,
        )
        batches = [*map(normalizer.feed, pieces(body)), normalizer.flush(EndOfFile())]
        reply = Reply()
        for batch in batches:
            reply.take(batch)
        return Heard(tuple(chunk for batch in batches for chunk in batch), reply)


StageOf = Callable[[Row], Awaitable[Stage]]
