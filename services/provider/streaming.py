"""One prompt from its claim to the end of its stream: at most one process makes the call, and every stream ends.

The claim comes before everything else. Whoever reads a prompt again after its stream has ended, be it expired or stopped
meanwhile, finds the claim closed and writes nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import assert_never

from structlog.typing import FilteringBoundLogger

from schemas.chunks import ProviderError
from schemas.claims import Closing
from schemas.identities import stream_effect
from schemas.prompts import ProviderRequest
from schemas.raw import Ending
from services.provider.credentials import Credentials
from services.provider.exchange import DeclaredLost, Exchange, Outcome
from services.provider.failures import BlobMissing, CallNotMade
from services.provider.metrics import STREAMS, WAITING
from services.provider.native_json import json_bytes
from services.provider.reach import Reach
from services.provider.recording import Recorder, lost_end
from services.provider.slots import Slots
from services.provider.splicing import SplicedBody, segments
from services.provider.transport import Call, Transport
from services.runtime.blobs.store import BlobStore
from services.runtime.claims import Claims, Ended, Held, Won
from services.runtime.clock import Clock
from services.runtime.control import Control, Stop
from services.runtime.inbound import Inbound
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
        reach: Reach,
        most: int,
        blobs: BlobStore | None = None,
    ) -> None:
        self._claims = claims
        self._control = control
        self._transport = transport
        self._credentials = credentials
        self._clock = clock
        self._reach = reach
        self._blobs = blobs
        self._slots = Slots(most)
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
        recorder = Recorder(inbound, request, self._claims.instance, self._claims.paused)
        hold = _Hold(self._claims, effect, request.channel_id)
        closing: Closing | None = "failed"
        began_ms = self._clock.now_ms()
        try:
            async with self._claims.guard(effect) as lost:
                outcome = await self._outcome(inbound, request, recorder, hold, stop, lost)
            if hold.paused() and not await hold.confirm():
                raise DeclaredLost
            lines.info("stream ended", ending=outcome.ending, dialect=request.dialect, model=request.model)
            await recorder.end(outcome.ending, outcome.detail)
            closing = _closing(outcome.ending)
            if outcome.ending == "eof":
                self._credentials.succeeded(request.credential.name, began_ms)
        except DeclaredLost:
            lines.warning("stream given up: it was declared lost while this process was silent")
            recorder.give_up()
            # Whoever closed the claim may have died before it said so in raw, and then the turn would wait in vain.
            lost_end(inbound, request)
            closing = None
        except CallNotMade as error:
            recorder.give_up()
            _tell(inbound, request, lines, error)
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
        recorder: Recorder,
        hold: "_Hold",
        stop: "asyncio.Future[Stop]",
        lost: "asyncio.Future[None]",
    ) -> Outcome:
        if stop.done():
            return Outcome("stopped")
        if self._left_s(inbound, request) <= 0:
            return Outcome("expired")

        async def prepare() -> Call:
            credential = await self._credentials.find(request.credential)
            recorder.hide(credential.secret)
            url = request.url
            if credential.place is not None:
                url = credential.place.fill(url)
                self._reach.check_token(url)
            return Call(
                url=url,
                headers=request.headers,
                body=self._body(request),
                connect_s=request.deadlines.connect_ms / 1000,
                secret_headers=credential.headers,
                policy=self._reach.policy_of(request),
            )

        with STREAMS.track_inprogress():
            exchange = Exchange(self._transport, request, prepare, recorder, lambda: len(self._here), hold)
            return await exchange.run(stop, lost)

    def _body(self, request: ProviderRequest) -> bytes | SplicedBody:
        """The body to send; raises BlobPlaceInvalid or BlobMissing."""
        if not request.blobs:
            return json_bytes(request.body)
        if self._blobs is None:
            raise BlobMissing("the provider worker has no blob store")
        return SplicedBody(segments(request.body, request.blobs), self._blobs)

    @contextlib.asynccontextmanager
    async def _slot(
        self, inbound: Inbound, request: ProviderRequest, stop: "asyncio.Future[Stop]"
    ) -> AsyncGenerator[None]:
        """One of the streams that a process may hold; a prompt that is stopped or expires goes on without."""
        guild = request.guild_id or f"direct:{request.channel_id}"
        async with self._slots.wish(guild) as granted:
            with WAITING.track_inprogress():
                while not (granted.done() or stop.done()) and (left_s := self._left_s(inbound, request)) > 0:
                    await asyncio.wait({granted, stop}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            yield

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


def _tell(inbound: Inbound, request: ProviderRequest, lines: FilteringBoundLogger, error: CallNotMade) -> None:
    """End the generation with the reason."""
    lines.error("no call", code=error.code, problem=str(error), remedy=error.remedy)
    message = f"{error}. {error.remedy}".strip()
    problem = ProviderError(type="api_error", code=error.code, message=message, retryable=error.retryable)
    for failed in generation_failed("provider", inbound.record, inbound.facts, problem, request.attempt):
        inbound.emit(failed)


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
