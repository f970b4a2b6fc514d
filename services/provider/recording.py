"""Writes one stream to `raw`: bytes become slices with a sequence, then one end.

Slices are handed over without waiting for their acknowledgement, up to a bound: a reader that goes on while the log
stands still would gather the whole stream in memory.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from schemas.headers import Facts
from schemas.identities import traceparent
from schemas.prompts import ProviderRequest
from schemas.raw import END, NOBODY, RETRY_HEADERS, SLICE, VERSION, Ending, RawEnd, RawOrigin, RawSlice
from services.provider.coalescer import Coalescer, gathering
from services.provider.masking import Masker
from services.provider.metrics import BYTES, ENDINGS, MASKED
from services.runtime.inbound import Inbound
from services.runtime.log import Appended
from services.runtime.outputs import bare

MOST_UNACKNOWLEDGED = 64
MOST_SLICE_BYTES = 256 * 1024
MOST_HEADER_CHARACTERS = 200


def lost_end(inbound: Inbound, request: ProviderRequest) -> "asyncio.Future[Appended]":
    """Write that the stream was lost, as somebody who did not hold it; harmless where it stands already.

    Several may write it, so it names none of them.
    """
    end = RawEnd(origin=_origin(request, NOBODY), sequence=None, ending="lost")
    facts = _facts(inbound, request, END, f"raw:{request.turn}:{request.generation}:lost", None)
    ENDINGS.labels(request.dialect, "lost").inc()
    return inbound.emit(bare("raw", b"", facts, end.headers()))


class Recorder:
    """The raw records of one stream that this process holds."""

    def __init__(
        self,
        inbound: Inbound,
        request: ProviderRequest,
        instance: str,
        paused: Callable[[], bool],
    ) -> None:
        """`paused`: whether writing has to wait until the claim is confirmed."""
        self._inbound = inbound
        self._paused = paused
        self._request = request
        self._origin = _origin(request, instance)
        self._masker = Masker(None)
        self._coalescer = Coalescer()
        self._timer: asyncio.TimerHandle | None = None
        self._unacknowledged: deque[asyncio.Future[Appended]] = deque()
        self._sequence = 0
        self._status: int | None = None
        self._content_type = ""
        self._retry_after: str | None = None
        self._retry_hints: tuple[tuple[str, str], ...] = ()
        self.ended = False

    def hide(self, secret: str | None) -> None:
        """Mask a secret in all that comes; to be called before the call is made."""
        self._masker = Masker(secret)

    def answered(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        """The response's headers have come."""
        self._status = status
        self._content_type = self._shown(content_type)
        retry_after = headers.get("retry-after")
        self._retry_after = None if retry_after is None else self._shown(retry_after)
        self._retry_hints = tuple((name, self._shown(headers[name])) for name in RETRY_HEADERS if name in headers)

    def take(self, data: bytes, now: float, streams: int) -> None:
        """Some bytes of the body; `streams` in flight decide how much is gathered for a slice."""
        BYTES.labels(self._request.dialect).inc(len(data))
        self._write(self._coalescer.push(data, now, gathering(streams)))
        due = self._coalescer.due()
        if due is None:
            self._cancel_timer()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(due, self._window_passed)

    def is_full(self) -> bool:
        """Whether so many slices wait for their acknowledgement that reading must wait for `room`."""
        waiting = self._unacknowledged
        while waiting and waiting[0].done():
            waiting.popleft().result()
        return len(waiting) >= MOST_UNACKNOWLEDGED

    async def room(self) -> None:
        """Wait until `is_full` no longer holds."""
        while self.is_full():
            await asyncio.wait({self._unacknowledged[0]})

    async def end(self, ending: Ending, detail: str | None = None) -> None:
        """Write what is gathered and the end, and wait until the end is acknowledged."""
        self.ended = True
        self._cancel_timer()
        self._write(self._coalescer.take(asyncio.get_running_loop().time()))
        self._slice(self._masker.rest(), masked=False)
        end = RawEnd(
            origin=self._origin,
            sequence=self._sequence,
            ending=ending,
            http_status=self._status,
            retry_after=self._retry_after,
            detail=None if detail is None else self._shown(detail),
            retry_hints=self._retry_hints if ending == "http_error" else (),
            attempt=self._request.attempt,
        )
        ENDINGS.labels(self._request.dialect, ending).inc()
        future = self._inbound.emit(bare("raw", b"", self._next_facts(END), end.headers()))
        await asyncio.wait({future})
        future.result()

    def give_up(self) -> None:
        """Write nothing more, not even what is gathered."""
        self.ended = True
        self._cancel_timer()

    def _window_passed(self) -> None:
        self._timer = None
        if self._paused():
            # What is gathered goes out with the next bytes or the end, after the claim is confirmed.
            return
        self._write(self._coalescer.take(asyncio.get_running_loop().time()))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self, data: bytes) -> None:
        for start in range(0, len(data), MOST_SLICE_BYTES):
            masked = self._masker.feed(data[start : start + MOST_SLICE_BYTES])
            if masked.hit:
                MASKED.labels(self._request.dialect).inc()
            self._slice(masked.data, masked=masked.hit)

    def _slice(self, data: bytes, *, masked: bool) -> None:
        if not data:
            return
        tools = () if self._sequence else self._request.verbatim_tools
        record = RawSlice(self._origin, self._sequence, self._status or 0, self._content_type, masked, tools)
        self._unacknowledged.append(self._inbound.emit(bare("raw", data, self._next_facts(SLICE), record.headers())))

    def _next_facts(self, record_type: str) -> Facts:
        origin, sequence = self._origin, self._sequence
        self._sequence += 1
        event_id = f"raw:{origin.turn}:{origin.generation}:{origin.instance}:{sequence}"
        return _facts(self._inbound, self._request, record_type, event_id, sequence)

    def _shown(self, text: str) -> str:
        return self._masker.text(text)[:MOST_HEADER_CHARACTERS]


def _origin(request: ProviderRequest, instance: str) -> RawOrigin:
    return RawOrigin(
        turn=request.turn,
        generation=request.generation,
        instance=instance,
        dialect=request.dialect,
        model=request.model,
        provider=request.provider,
        rules_version=request.rules_version,
    )


def _facts(inbound: Inbound, request: ProviderRequest, record_type: str, event_id: str, sequence: int | None) -> Facts:
    return Facts(
        type=record_type,
        version=VERSION,
        id=event_id,
        channel=request.channel_id,
        turn=request.turn,
        generation=request.generation,
        sequence=sequence,
        cause=inbound.facts.cause,
        traceparent=traceparent(request.turn, event_id),
    )
