"""The control API under `/_sandbox/`: what was called, and what to play next.

It has no key, since it listens where the provider listens, on this machine. A POST must be `application/json`, which a
foreign web page cannot send here without asking first.
"""

from collections.abc import Callable, Mapping

import orjson
from aiohttp import web

from services.sandbox.provider.recording import CallBook, CallEvent
from services.sandbox.provider.replies import MODELS
from services.sandbox.provider.script import ScriptError, parse_script
from services.sandbox.provider.scripts_queue import QueueFullError, ScriptQueue


class Control:
    """The control API's handlers."""

    def __init__(self, book: CallBook, scripts: ScriptQueue, reset: Callable[[], None]) -> None:
        self._book = book
        self._scripts = scripts
        self._reset = reset

    def add_routes(self, app: web.Application) -> None:
        """Add the API's routes to an application."""
        app.router.add_get("/_sandbox/health", self._health)
        app.router.add_get("/_sandbox/calls", self._calls)
        app.router.add_get("/_sandbox/events", self._events)
        app.router.add_post("/_sandbox/scripts", self._add_script)
        app.router.add_post("/_sandbox/reset", self._reset_all)

    async def _health(self, _request: web.Request) -> web.Response:
        calls = self._book.calls
        return _json(
            {
                "status": "ok",
                "calls": len(calls),
                "open_calls": sum(call.ended is None for call in calls),
                "scripts": len(self._scripts),
                "models": [*MODELS, *sorted(self._scripts.models)],
            }
        )

    async def _calls(self, _request: web.Request) -> web.Response:
        return _json({"calls": [call.view() for call in self._book.calls]})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        shown = request.query.get("after") or request.headers.get("last-event-id") or "0"
        if not (shown.isascii() and shown.isdigit() and len(shown) < 19):
            return _json({"error": "`after` must be the number of an event"}, 400)
        last = int(shown)
        response = web.StreamResponse(headers={"content-type": "text/event-stream", "cache-control": "no-cache"})
        await response.prepare(request)
        while True:
            for event in self._book.events_after(last):
                await response.write(_sse(event))
                last = event.sequence
            await self._book.until_event_after(last)

    async def _add_script(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            return _json({"error": "send a script as application/json"}, 415)
        try:
            self._scripts.add(parse_script(await request.read()))
        except ScriptError as error:
            return _json({"error": str(error)}, 400)
        except QueueFullError as error:
            return _json({"error": str(error)}, 409)
        return _json({"scripts": len(self._scripts)}, 201)

    async def _reset_all(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            return _json({"error": "send {} as application/json"}, 415)
        self._reset()
        return _json({"status": "ok"})


def _json(value: Mapping[str, object], status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")


def _sse(event: CallEvent) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.sequence, event.kind.encode(), orjson.dumps(event.call))
