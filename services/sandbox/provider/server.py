"""The provider as one object: start it, enqueue scripts, see who called, stop it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from services.sandbox.provider.admission import Doorkeeper
from services.sandbox.provider.control import Control
from services.sandbox.provider.dialects.base import Dialect
from services.sandbox.provider.dialects.table import DIALECTS
from services.sandbox.provider.endpoint import Endpoint, now
from services.sandbox.provider.neutral import DialectName
from services.sandbox.provider.recording import Call, CallBook, Ended
from services.sandbox.provider.replies import MODELS
from services.sandbox.provider.script import Script
from services.sandbox.provider.scripts_queue import ScriptQueue

_PATHS: dict[DialectName, str] = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/{version:v1|v1beta}/{parent:|projects/[^/]+/locations/[^/]+/publishers/google/|publishers/google/}"
    "models/{model:[^/:]+}:streamGenerateContent",
}


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """Settings of a provider; `pace_ms` is the wait before each delta where a script names none.

    `more_keys` are keys by the names of those who hold them, so that a call tells who made it. `bodies_kept`: the
    calls kept hold the bytes of their answers too.
    """

    key: str = "sandbox-key"
    more_keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    pace_ms: float = 22.0
    calls_kept: int = 1000
    bodies_kept: bool = False
    scripts_kept: int = 1000
    request_bytes: int = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Address:
    """Where a provider listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class SandboxProvider:
    """A local LLM provider on its own port."""

    def __init__(self, config: SandboxConfig | None = None) -> None:
        self._config = config or SandboxConfig()
        self._book = CallBook(calls_kept=self._config.calls_kept, bodies_kept=self._config.bodies_kept)
        self._scripts = ScriptQueue(self._config.scripts_kept)
        self._doorkeeper = Doorkeeper(self._config.key, self._config.more_keys)
        self._runner: web.AppRunner | None = None
        self._handlers: set[asyncio.Task[object]] = set()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls kept, oldest first."""
        return self._book.calls

    def enqueue(self, script: Script) -> None:
        """Queue a script; raises `QueueFullError`."""
        self._scripts.add(script)

    def reset(self) -> None:
        """Forget scripts, ended calls and events; calls that are running go on."""
        self._scripts.clear()
        self._book.clear()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen; port 0 takes a free one. Raises `OSError` if the port is taken."""
        if self._runner is not None:
            raise RuntimeError("the sandbox provider is already started")
        runner = web.AppRunner(self._application(), handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        return Address(*runner.addresses[0][:2])

    async def stop(self) -> None:
        """Close the listener and every connection; running calls end as `stopped`."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for call in self.calls:
            self._book.end(call, Ended("stopped", now(), 200))
        for task in self._handlers:
            task.cancel()
        await runner.cleanup()

    async def wait_for_call(self, predicate: Callable[[Call], bool] = lambda _: True, timeout: float = 10.0) -> Call:  # noqa: ASYNC109
        """The first kept or future call that the predicate accepts; raises `TimeoutError` after `timeout` seconds."""
        found: list[Call] = []

        def seen() -> bool:
            found.extend(call for call in self.calls if predicate(call))
            return bool(found)

        async with asyncio.timeout(timeout):
            await self._book.until(seen)
        return found[0]

    async def wait_until_closed(self, call: Call, timeout: float = 10.0) -> Ended:  # noqa: ASYNC109
        """How a call ended, once it has; raises `TimeoutError` after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while (ended := call.ended) is None:
                await self._book.until(lambda: call.ended is not None)
        return ended

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=self._config.request_bytes, middlewares=[self._track])
        for name, path in _PATHS.items():
            endpoint = Endpoint(DIALECTS[name], self._doorkeeper, self._book, self._scripts, self._config.pace_ms)
            app.router.add_post(path, endpoint.handle)
        app.router.add_get("/v1/models", self._list_models)
        Control(self._book, self._scripts, self.reset).add_routes(app)
        return app

    async def _list_models(self, request: web.Request) -> web.Response:
        """The models in OpenAI's form, or in Anthropic's if the request names its version."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        dialect: Dialect = DIALECTS["anthropic" if "anthropic-version" in headers else "openai-chat"]
        if not self._doorkeeper.shown_key_is_right(dialect, headers):
            body = dialect.error_body(401, "The API key is missing or not the sandbox's.")
            return web.Response(status=401, body=body, content_type="application/json")
        names = [*MODELS, *sorted(self._scripts.models)]
        if dialect.name == "anthropic":
            models = [
                {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
                for name in names
            ]
            listed: dict[str, object] = {
                "data": models,
                "has_more": False,
                "first_id": names[0],
                "last_id": names[-1],
            }
        else:
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "sandbox"} for name in names]
            listed = {"object": "list", "data": data}
        return web.Response(body=orjson.dumps(listed), content_type="application/json")

    @web.middleware
    async def _track(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an HTTP handler runs in a task")
        self._handlers.add(task)
        try:
            return await handler(request)
        finally:
            self._handlers.discard(task)


async def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    config: SandboxConfig | None = None,
    ready: Callable[[Address], None] | None = None,
) -> None:
    """Run a provider until cancelled; `ready` is told the address once it listens. Raises `OSError` if it cannot."""
    provider = SandboxProvider(config)
    address = await provider.start(host, port)
    try:
        if ready is not None:
            ready(address)
        await asyncio.get_running_loop().create_future()
    finally:
        await provider.stop()
