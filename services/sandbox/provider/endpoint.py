"""Handles one call of a dialect's endpoint: admits it, books it, chooses its script and has it played."""

import time
from typing import assert_never

from aiohttp import web

from services.sandbox.provider.admission import Doorkeeper, Refusal
from services.sandbox.provider.dialects.base import Dialect, Head
from services.sandbox.provider.neutral import Prompt
from services.sandbox.provider.performance import perform_recording, perform_stream
from services.sandbox.provider.player import end, play
from services.sandbox.provider.recording import Call, CallBook, Ended, How, Moment, without_secrets
from services.sandbox.provider.replies import reply_for
from services.sandbox.provider.script import Answer, Recording, Script, Stream
from services.sandbox.provider.scripts_queue import ScriptQueue


def now() -> Moment:
    """This instant on both clocks."""
    return Moment(time.monotonic(), time.time())


class Endpoint:
    """The POST endpoint of one dialect."""

    def __init__(
        self, dialect: Dialect, doorkeeper: Doorkeeper, book: CallBook, scripts: ScriptQueue, pace_ms: float
    ) -> None:
        self._dialect = dialect
        self._doorkeeper = doorkeeper
        self._book = book
        self._scripts = scripts
        self._pace_ms = pace_ms

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        arrived = now()
        try:
            raw = await request.read()
        except web.HTTPRequestEntityTooLarge:
            raw = None
        headers = {name.lower(): value for name, value in request.headers.items()}
        model = request.match_info.get("model", "")
        admission = self._doorkeeper.admit(self._dialect, headers, request.query, raw, model, self._scripts.models)
        call = Call(
            id=self._book.next_id(),
            dialect=self._dialect.name,
            model=admission.model,
            arrived=arrived,
            headers=without_secrets(headers),
            body=admission.body,
            body_bytes=0 if admission.body is None or raw is None else len(raw),
            turn=headers.get("x-odradek-turn"),
            generation=headers.get("x-odradek-generation"),
            holder=self._doorkeeper.holder(self._dialect, headers),
        )
        self._book.add(call)
        match admission.outcome:
            case Refusal() as refusal:
                return self._answer(call, Answer(refusal.status, message=refusal.message))
            case Prompt() as prompt:
                return await self._play_script(request, call, prompt)
            case _:
                assert_never(admission.outcome)

    async def _play_script(self, request: web.Request, call: Call, prompt: Prompt) -> web.StreamResponse:
        script = self._scripts.take(self._dialect.name, prompt) or Script()
        if isinstance(script.play, Answer):
            return self._answer(call, script.play)
        headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            self._dialect.request_id_header: _request_id(call),
        }
        response = web.StreamResponse(headers=headers)
        try:
            await response.prepare(request)
            await self._stream(request, response, call, prompt, script.play)
        except BaseException as error:
            # A lost connection shows either as a failed write or, while nothing is written, as cancellation.
            if isinstance(error, Exception) and not isinstance(error, ConnectionError):
                self._end(call, "failed", 200, type(error).__name__)
            else:
                self._end(call, "client-closed", 200)
            raise
        self._end(call, "completed", 200)
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, call: Call, prompt: Prompt, script: Stream | Recording
    ) -> None:
        input_tokens = sum(len(message.text.split()) for message in prompt.messages)
        head = Head(call.id, prompt.model, int(call.arrived.wall), input_tokens, prompt.wants_usage)
        encoder = self._dialect.encoder(head)
        match script:
            case Stream():
                reply = reply_for(prompt.model, prompt.messages)
                acts = perform_stream(script, encoder, reply, input_tokens, self._pace_ms)
            case Recording():
                acts = perform_recording(script, encoder, self._pace_ms)
            case _:
                assert_never(script)
        await play(response, acts, lambda data: self._book.sent(call, data, now))
        await end(request, response, script.ending, lambda: self._end(call, "reset", 200))

    def _answer(self, call: Call, answer: Answer) -> web.Response:
        body = self._dialect.error_body(answer.status, answer.message) if answer.body is None else answer.body
        headers = {
            "content-type": answer.content_type,
            self._dialect.request_id_header: _request_id(call),
            **answer.headers,
        }
        if body:
            self._book.sent(call, body, now)
        self._end(call, "refused" if answer.status >= 400 else "completed", answer.status)
        return web.Response(status=answer.status, headers=headers, body=body)

    def _end(self, call: Call, how: How, status: int, detail: str = "") -> None:
        self._book.end(call, Ended(how, now(), status, detail))


def _request_id(call: Call) -> str:
    return f"req_sandbox_{call.id}"
