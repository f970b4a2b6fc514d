"""Endpoints over HTTP: token, rate limit, faults, body, and Discord's way of answering."""

import asyncio
import hmac
import re
import time
from collections.abc import Mapping

import orjson
from aiohttp import BodyPartReader, web

from services.sandbox.discord.attachments import FILE_BYTES, FILES_LIMIT, Upload
from services.sandbox.discord.errors import DiscordError, invalid_json, not_found, too_large, unauthorized
from services.sandbox.discord.faults import Fault, Faults
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.limits import Limits, refusal
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World

_BODY_BYTES = FILES_LIMIT * FILE_BYTES + 1024 * 1024
_FILE_FIELD = re.compile(r"files?\[?(\d*)\]?")


class RestAdapter:
    def __init__(self, world: World, limits: Limits, faults: Faults, api_path: str) -> None:
        self._world = world
        self._limits = limits
        self._faults = faults
        self._api_path = api_path

    def add_to(self, app: web.Application, endpoint: Endpoint) -> None:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._handle(endpoint, request)

        app.router.add_route(endpoint.method, self._api_path + endpoint.path, handle)

    async def refuse_unknown(self, request: web.Request) -> web.StreamResponse:
        del request
        return _refusal(not_found(), {})

    async def _handle(self, endpoint: Endpoint, request: web.Request) -> web.StreamResponse:
        now = asyncio.get_running_loop().time()
        away = self._faults.away(now)
        if away is not None:
            return cut(request) if away == "cut" else failed(503, {})
        if not endpoint.open and not self._authorized(request):
            return _refusal(unauthorized(), {})
        major = request.match_info[endpoint.major] if endpoint.major else ""
        verdict = self._limits.check(endpoint.bucket, major, now, time.time(), counts_overall=not endpoint.open)
        if verdict.retry_after_s is not None:
            self._journal("rate_limited", request, 429)
            return _answer(429, verdict.body(), verdict.headers)
        try:
            body, uploads = await _read(request)
        except DiscordError as error:
            return _refusal(error, verdict.headers)
        except ConnectionError:
            return cut(request)
        fault = self._faults.meet(request.method, request.path.removeprefix(self._api_path))
        if fault is not None:
            self._journal("fault", request, fault.status or 0)
            await asyncio.sleep(fault.delay_s)
            if fault.fails and not fault.apply:
                return self._fail(fault, request, verdict.headers)
        try:
            done = endpoint.handler(self._world, Call(request.match_info, request.query, body, uploads))
        except DiscordError as error:
            return _refusal(error, verdict.headers)
        if fault is not None and fault.fails:
            return self._fail(fault, request, verdict.headers)
        if done is None:
            return web.Response(status=204, headers=verdict.headers)
        return _answer(200, done, verdict.headers)

    def _authorized(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(given, f"Bot {self._world.state.application.token}".encode())

    def _fail(self, fault: Fault, request: web.Request, headers: Mapping[str, str]) -> web.StreamResponse:
        if fault.cut or fault.status is None:
            return cut(request)
        if fault.status == 429:
            verdict = refusal(fault.retry_after, "shared")
            return _answer(429, verdict.body(), {**headers, **verdict.headers})
        return failed(fault.status, headers)

    def _journal(self, kind: str, request: web.Request, status: int) -> None:
        token = request.match_info.get("token")
        path = request.path if token is None else request.path.replace(token, "***")
        self._world.journal.add(kind, method=request.method, path=path, status=status)


def cut(request: web.Request) -> web.Response:
    """Drop the connection; the response that this returns never leaves."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def _answer(status: int, body: JsonValue, headers: Mapping[str, str]) -> web.Response:
    # Clients compare the type with "application/json" as a whole: no charset behind it.
    return web.Response(status=status, body=orjson.dumps(body), headers=headers, content_type="application/json")


def _refusal(error: DiscordError, headers: Mapping[str, str]) -> web.Response:
    return _answer(error.status, error.body(), headers)


def failed(status: int, headers: Mapping[str, str]) -> web.Response:
    """An answer of a server that is out of order."""
    return _answer(status, {"message": f"{status}: Failed on purpose", "code": 0}, headers)


async def _read(request: web.Request) -> tuple[JsonValue, tuple[Upload, ...]]:
    if not request.body_exists:
        return None, ()
    if request.content_type == "multipart/form-data":
        return await _read_multipart(request)
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise too_large() from None
    return _parsed(raw) if raw else None, ()


async def _read_multipart(request: web.Request) -> tuple[JsonValue, tuple[Upload, ...]]:
    body: JsonValue = None
    uploads = list[Upload]()
    left = _BODY_BYTES
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise invalid_json()
        content = bytearray()
        while chunk := await part.read_chunk(64 * 1024):
            left -= len(chunk)
            if left < 0:
                raise too_large()
            content += chunk
        if part.name == "payload_json":
            body = _parsed(bytes(content))
        elif (field := _FILE_FIELD.fullmatch(part.name or "")) is not None:
            kind = part.headers.get("Content-Type", "application/octet-stream")
            index = int(field[1] or len(uploads))
            uploads.append(Upload(index, part.filename or "file", bytes(content), kind))
    return body, tuple(uploads)


def _parsed(raw: bytes) -> JsonValue:
    try:
        parsed: JsonValue = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise invalid_json() from None
    return parsed
