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
from schemas.prompts import ContextRead
from schemas.raw import RawEnd, RawSlice
from services.context.habits.table import habits_of
from services.context.models import Route
from services.context.prompting import prompt
from services.normalizer.endings import EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer
from services.sandbox.provider.player import end
from services.sandbox.provider.script import Eof, Reset
from tests.provider.turns.demands import BrokenOff, Player, Refused, pieces
from tests.provider.turns.rows import Row

_READ = ContextRead(messages=("1000",), digest="0" * 64)
_SECRETS = {"authorization", "x-api-key", "x-goog-api-key"}


@dataclass
class Server:
    """A real HTTP server in the provider's place; `key` is what its key header must hold."""

    player: Player
    key: str
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            stream, ending = self._answer(request, orjson.loads(await request.read())), None
        except Refused as error:
            body = self.player.refusal(str(error))
            headers = {"content-type": "application/json", **error.headers}
            return web.Response(status=error.status, body=body, headers=headers)
        except BrokenOff as error:
            stream, ending = error.stream, Reset()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces(stream):
            await response.write(piece)
        await end(request, response, ending or Eof(), lambda: None)
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
        if request.path_qs not in {_path(url) for url in (player.url, player.continued_url) if url is not None}:
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


def _path(url: str) -> str:
    address = urlsplit(url)
    return f"{address.path}?{address.query}" if address.query else address.path


def first_attempt(number: int) -> GenerationRequested:
    """A generation of which nothing has failed yet."""
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
        target = self.row.target
        chosen = Chosen(provider=self.row.asked_as, model=target.model.codename, credential=self.credential)
        await self.send(first_attempt(self.generations), context, chosen)
        return self._heard()

    async def send(self, request: GenerationRequested, context: NeutralContext, chosen: Chosen) -> None:
        """Make the prompt as the context worker does, and call the server in the place of the provider's own address."""
        target = self.row.target
        made = prompt(request, context, Route(chosen, target, habits_of(target).placement, context.options), _READ)
        player = self.row.player
        assert made.url == ((player.continued_url if context.current_turn_model_parts else None) or player.url)
        address = urlsplit(made.url)
        here = made.url.replace(f"{address.scheme}://{address.netloc}", self.server.url, 1)
        await self.bench.run(made.model_copy(update={"url": here}))

    def recorded(self, generation: int) -> list[tuple[RawSlice | RawEnd, bytes]]:
        """What stands in `raw` of a generation."""
        return [(raw, data) for _, raw, data in self.bench.raw() if raw.origin.generation == generation]

    @property
    def credential(self) -> str:
        names = {"x-api-key": "anthropic", "x-goog-api-key": "google", "google-adc": "vertex"}
        return names.get(habits_of(self.row.target).placement, "openai")

    def _heard(self) -> Heard:
        """The recorded bytes through the normalizer, cut at odd places once more."""
        mine = self.recorded(self.generations)
        slices = [(raw, data) for raw, data in mine if isinstance(raw, RawSlice)]
        (ended,) = [raw for raw, _ in mine if isinstance(raw, RawEnd)]
        body = b"".join(data for _, data in slices)
        assert (ended.ending, ended.http_status) == ("eof", 200), body.decode()
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
