"""One prompt from its claim to the end of its stream: at most one process makes the call, and every stream ends.

The claim comes before everything else. Whoever reads a prompt again after its stream has ended, be it expired or stopped
meanwhile, finds the claim closed and writes nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import assert_never

import orjson

from schemas.chunks import ProviderError
from schemas.claims import Closing
from schemas.identities import stream_effect
from schemas.prompts import ProviderRequest
from schemas.raw import Ending
from services.provider.credentials import Credential, Credentials
from services.provider.exchange import DeclaredLost, Exchange, Outcome
from services.provider.metrics import STREAMS, WAITING
from services.provider.recording import Recorder, lost_end
from services.provider.transport import Call, Transport
from services.runtime.claims import Claims, Ended, Held, Won
from services.runtime.clock import Clock
from services.runtime.control import Control, Stop
from services.runtime.errors import ConfigurationError
from services.runtime.inbound import Inbound
from services.runtime.log import NewRecord
from services.runtime.logs import get_logger
from services.runtime.refusals import generation_failed

log = get_logger("provider")

FAREWELL_S = 0.8
"""How long a cancelled stream may take to write its end, and again to close its claim; the process has 2 s left."""


class Streams:
    """All streams of a process, at most `most` at once."""

    def __init__(
        self,
        *,
        claims: Claims,
        control: Control,
        transport: Transport,
        credentials: Credentials,
        clock: Clock,
        most: int,
    ) -> None:
        self._claims = claims
        self._control = control
        self._transport = transport
        self._credentials = credentials
        self._clock = clock
        self._slots = asyncio.Semaphore(most)
        self._here: dict[str, asyncio.Event] = {}

    async def run(self, inbound: Inbound, request: ProviderRequest) -> None:
        """Handle one prompt: returns when its stream has ended, here or elsewhere, and its claim is closed."""
        effect = stream_effect(request.turn, request.generation)
        await self._ended_here(effect)
        async with (
            self._control.watch(request.turn, request.channel_id, request.caused_by) as stop,
            self._slot(inbound, request, stop),
        ):
            claim = await self._claims.claim(effect, request.channel_id)
            if isinstance(claim, Won):
                ended = self._here[effect] = asyncio.Event()
                try:
                    return await self._hold(inbound, request, effect, stop)
                finally:
                    del self._here[effect]
                    ended.set()
        match claim:
            case Held():
                outcome = await self._claims.outcome(effect, request.channel_id)
            case Ended():
                outcome = claim.outcome
            case _:
                assert_never(claim)
        if outcome == "lost":
            lost_end(inbound, request)
        return None

    async def _ended_here(self, effect: str) -> None:
        """Wait for a stream of this very process, whose prompt we read again because its partition went and came."""
        running = self._here.get(effect)
        if running is not None:
            await running.wait()

    async def _hold(
        self, inbound: Inbound, request: ProviderRequest, effect: str, stop: "asyncio.Future[Stop]"
    ) -> None:
        """Make the call that we alone have claimed, and close the claim whatever happens."""
        lines = log.bind(turn=request.turn, generation=request.generation, channel=request.channel_id)
        try:
            credential = self._credentials.find(request.credential)
        except ConfigurationError as error:
            lines.error("no call: the credential is unusable", problem=str(error), remedy=error.remedy)
            for failed in _unusable(inbound, request, error):
                inbound.emit(failed)
            await self._claims.close(effect, request.channel_id, "failed")
            return
        recorder = Recorder(inbound, request, self._claims.instance, credential.secret, self._claims.paused)
        hold = _Hold(self._claims, effect, request.channel_id)
        closing: Closing | None = "failed"
        try:
            async with self._claims.guard(effect) as lost:
                outcome = await self._outcome(inbound, request, credential, recorder, hold, stop, lost)
            if hold.paused() and not await hold.confirm():
                raise DeclaredLost
            lines.info("stream ended", ending=outcome.ending, dialect=request.dialect, model=request.model)
            await recorder.end(outcome.ending, outcome.detail)
            closing = _closing(outcome.ending)
        except DeclaredLost:
            lines.warning("stream given up: it was declared lost while this process was silent")
            recorder.give_up()
            # Whoever closed the claim may have died before it said so in raw, and then the turn would wait in vain.
            lost_end(inbound, request)
            closing = None
        except asyncio.CancelledError:
            closing = "lost"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_S):
                    if not recorder.ended:
                        await recorder.end("lost", "the provider worker stopped")
            raise
        finally:
            if closing is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(FAREWELL_S if closing == "lost" else None):
                        await self._claims.close(effect, request.channel_id, closing)

    async def _outcome(
        self,
        inbound: Inbound,
        request: ProviderRequest,
        credential: Credential,
        recorder: Recorder,
        hold: "_Hold",
        stop: "asyncio.Future[Stop]",
        lost: "asyncio.Future[None]",
    ) -> Outcome:
        if stop.done():
            return Outcome("stopped")
        if self._left_s(inbound, request) <= 0:
            return Outcome("expired")
        call = Call(
            url=request.url,
            headers=request.headers,
            body=orjson.dumps(request.body),
            connect_s=request.deadlines.connect_ms / 1000,
            secret_headers=credential.headers,
        )
        with STREAMS.track_inprogress():
            exchange = Exchange(self._transport, request, call, recorder, lambda: len(self._here), hold)
            return await exchange.run(stop, lost)

    @contextlib.asynccontextmanager
    async def _slot(
        self, inbound: Inbound, request: ProviderRequest, stop: "asyncio.Future[Stop]"
    ) -> AsyncGenerator[None]:
        """One of the streams that a process may hold; a prompt that is stopped or expires goes on without."""
        acquiring = asyncio.create_task(self._slots.acquire())
        try:
            with WAITING.track_inprogress():
                while not (acquiring.done() or stop.done()) and (left_s := self._left_s(inbound, request)) > 0:
                    await asyncio.wait({acquiring, stop}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            yield
        finally:
            acquiring.cancel()
            await asyncio.wait({acquiring})
            if not acquiring.cancelled():
                self._slots.release()

    def _left_s(self, inbound: Inbound, request: ProviderRequest) -> float:
        """How long the prompt may still be sent, in seconds."""
        return (inbound.record.timestamp_ms + request.ttl_ms - self._clock.now_ms()) / 1000


@dataclass(frozen=True, slots=True)
class _Hold:
    """Our claim on one stream."""

    claims: Claims
    effect: str
    channel: str

    def paused(self) -> bool:
        return self.claims.paused()

    async def confirm(self) -> bool:
        return await self.claims.confirm(self.effect, self.channel)


def _unusable(inbound: Inbound, request: ProviderRequest, error: ConfigurationError) -> list[NewRecord]:
    problem = ProviderError(
        type="api_error", code="configuration", message=f"{error}. {error.remedy}".strip(), retryable=False
    )
    return generation_failed("provider", inbound.record, inbound.facts, problem, request.attempt)


def _closing(ending: Ending) -> Closing:
    match ending:
        case "eof":
            return "done"
        case "stopped":
            return "stopped"
        case "expired":
            return "expired"
        case "lost":
            return "lost"
        case (
            "reset"
            | "http_error"
            | "connect_failed"
            | "first_byte_timeout"
            | "idle_timeout"
            | "total_timeout"
            | "too_large"
        ):
            return "failed"
        case _:
            assert_never(ending)
