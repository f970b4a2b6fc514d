"""The page's server: its files, one stream of events for each open page, records on demand, and what people do.

Routes: `GET /` and `/static/...` the page; `GET /events` server-sent events; `GET /turns/{turn}` a turn's rows and
`GET /turns/{turn}/records/{key}` one record in full; `POST /messages`, `/buttons` and `/commands`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import orjson
from aiohttp import web
from pydantic import ValidationError

from schemas.topics import load_topics
from services.runtime.clock import SystemClock
from services.runtime.errors import Unavailable
from services.runtime.log import LogRecord
from services.runtime.settings import Settings
from services.sandbox.page import guard, requests
from services.sandbox.page.chat import Chat, Refused
from services.sandbox.page.feed import Feed
from services.sandbox.page.hub import Hub, TooManyPages, frame
from services.sandbox.page.jsontypes import Status
from services.sandbox.page.spool import Spool

_ALIVE_S = 15.0
_BODY_BYTES = 64 * 1024
_STATIC = Path(str(files("services.sandbox.page") / "static"))

BodyT = TypeVar("BodyT", requests.Write, requests.Press, requests.Use)


class Page:
    """What is shown, and the routes that show it."""

    def __init__(self, settings: Settings, discord_url: str) -> None:
        self._hub = Hub()
        self._spool = Spool()
        self._chat = Chat(discord_url, self._hub)
        self._log_status: Status = "connecting"
        self._feed = Feed(
            settings,
            load_topics(settings.topics_file),
            SystemClock(),
            self._hub,
            on_record=self._on_record,
            on_status=self._on_log_status,
        )

    async def run(self) -> None:
        """Follow the log and the local Discord for ever."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._feed.run())
            tasks.create_task(self._chat.run())

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/", _index)
        app.router.add_static("/static", _STATIC)
        app.router.add_get("/events", self._events)
        app.router.add_get("/turns/{turn}", self._turn)
        app.router.add_get("/turns/{turn}/records/{key}", self._record)
        app.router.add_post("/messages", _doing(requests.Write, self._write))
        app.router.add_post("/buttons", _doing(requests.Press, self._press))
        app.router.add_post("/commands", _doing(requests.Use, self._use))

    # -- what happens ----------------------------------------------------------------------------------------------

    def _on_record(self, record: LogRecord) -> None:
        wound = self._spool.add(record)
        if wound is not None:
            self._hub.tell("record", {"turn": wound.turn, "row": wound.row})

    def _on_log_status(self, status: Status) -> None:
        if status != self._log_status:
            self._log_status = status
            self._hub.tell("status", {"log": status})

    # -- what is shown ---------------------------------------------------------------------------------------------

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """All that there is, then all that happens. A page that comes back begins anew, so nothing has to be resumed."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            with self._hub.listening() as listener:
                await response.prepare(request)
                await response.write(self._everything())
                while (told := await listener.next(_ALIVE_S)) is not None:
                    await response.write(told or b": alive\n\n")
        except TooManyPages:
            return web.Response(status=503, text="too many pages are open\n")
        except ConnectionError:
            pass
        return response

    def _everything(self) -> bytes:
        return b"retry: 1000\n\n" + b"".join(
            (
                frame("status", {"chat": self._chat.status, "log": self._log_status}),
                frame("channel", self._chat.view()),
                frame("turns", self._spool.turns()),
            )
        )

    async def _turn(self, request: web.Request) -> web.Response:
        rows = self._spool.rows(request.match_info["turn"])
        return _gone() if rows is None else _json({"rows": rows})

    async def _record(self, request: web.Request) -> web.Response:
        record = self._spool.record(request.match_info["turn"], request.match_info["key"])
        return _gone() if record is None else _json(record)

    # -- what people do --------------------------------------------------------------------------------------------

    async def _write(self, body: requests.Write) -> None:
        await self._chat.write(body.user, body.content, body.reply_to)

    async def _press(self, body: requests.Press) -> None:
        await self._chat.press(body.user, body.message, body.custom_id)

    async def _use(self, body: requests.Use) -> None:
        await self._chat.command(body.user, body.name)


async def serve(
    host: str, port: int, *, settings: Settings, discord_url: str, ready: Callable[[str], None] | None = None
) -> None:
    """Serve the page until this is cancelled; `ready` gets its URL once it listens. Port 0 takes a free one.

    The broker and the local Discord at `discord_url` may come and go. Raises OSError where the address is taken.
    """
    page = Page(settings, discord_url)
    app = web.Application(client_max_size=_BODY_BYTES, middlewares=[guard.guard(host)])
    app.on_response_prepare.append(guard.add_headers)
    page.add_to(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        if ready is not None:
            ready(f"http://{host}:{runner.addresses[0][1]}/")
        await page.run()
    finally:
        await runner.cleanup()


async def _index(_: web.Request) -> web.FileResponse:
    return web.FileResponse(_STATIC / "index.html")


def _doing(
    model: type[BodyT], do: Callable[[BodyT], Awaitable[None]]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        try:
            await do(model.model_validate_json(await request.read()))
        except ValidationError as error:
            places = error.errors(include_url=False, include_input=False, include_context=False)
            reason = "; ".join(f"{'.'.join(map(str, place['loc']))}: {place['msg']}" for place in places)
            return _json({"error": reason}, 400)
        except Refused as error:
            return _json({"error": str(error)}, 409)
        except Unavailable as error:
            return _json({"error": str(error)}, 503)
        return _json({})

    return answer


def _gone() -> web.Response:
    return _json({"error": "this is no longer on the spool"}, 404)


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")
