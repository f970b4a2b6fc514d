"""The book of calls: who called with what, what was sent, and when and how the call ended.

The book is bounded; the oldest calls that have ended are forgotten first. Times come from outside: the book reads no
clock.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from services.sandbox.provider.neutral import DialectName

How = Literal["completed", "refused", "reset", "client-closed", "stopped", "failed"]
EventKind = Literal["arrived", "first-byte", "ended"]

_SECRET_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
)


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant on both clocks, in seconds: `time.monotonic` of this process and Unix time."""

    monotonic: float
    wall: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended and when that was seen.

    `completed`: the script was played to its end; `refused`: an HTTP error, by rule or by script; `reset`: the script
    reset the connection; `client-closed`: the caller went away first; `stopped`: the server did; `failed`: a fault of
    the sandbox, named in `detail`.
    """

    how: How
    at: Moment
    status: int
    detail: str = ""


@dataclass(slots=True, eq=False)
class Call:
    """One call, updated while it runs.

    `bytes_sent` counts body bytes, `sent` has them if the book keeps bodies; `body` is None if the body was no JSON or
    the key was wrong. `holder` is whose key it was, of those that have names.
    """

    id: int
    dialect: DialectName
    model: str
    arrived: Moment
    headers: Mapping[str, str]
    body: object
    body_bytes: int
    turn: str | None
    generation: str | None
    holder: str | None = None
    bytes_sent: int = 0
    sent: bytearray = field(default_factory=bytearray, repr=False)
    first_byte: Moment | None = None
    ended: Ended | None = None

    def summary(self) -> dict[str, object]:
        """The call as JSON without headers and body."""
        ended = self.ended
        return {
            "id": self.id,
            "dialect": self.dialect,
            "model": self.model,
            "turn": self.turn,
            "generation": self.generation,
            "arrived": _moment(self.arrived),
            "bytes_sent": self.bytes_sent,
            "first_byte": _moment(self.first_byte),
            "ended": None
            if ended is None
            else {"how": ended.how, "at": _moment(ended.at), "status": ended.status, "detail": ended.detail},
        }

    def view(self) -> dict[str, object]:
        """The call as JSON."""
        return {**self.summary(), "headers": dict(self.headers), "body": self.body}


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A change of a call, with the call's summary as it was then; numbers start at 1 and are never used twice."""

    sequence: int
    kind: EventKind
    call: dict[str, object]


def _moment(moment: Moment | None) -> dict[str, float] | None:
    return None if moment is None else {"monotonic": moment.monotonic, "wall": moment.wall}


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers in lower case, without those that carry keys."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}


@dataclass(slots=True, eq=False)
class CallBook:
    """Keeps calls and their events, and wakes those who wait for them."""

    calls_kept: int = 1000
    bodies_kept: bool = False
    body_bytes_kept: int = 64 * 1024 * 1024
    events_kept: int = 4096
    _calls: dict[int, Call] = field(default_factory=dict[int, Call], init=False)
    _events: deque[CallEvent] = field(init=False)
    _last_id: int = field(default=0, init=False)
    _last_event: int = field(default=0, init=False)
    _body_bytes: int = field(default=0, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self._events = deque(maxlen=self.events_kept)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls kept, oldest first."""
        return tuple(self._calls.values())

    def next_id(self) -> int:
        """A number for a call; numbers are never used twice, also after a reset."""
        self._last_id += 1
        return self._last_id

    def add(self, call: Call) -> None:
        """Enter a call that has arrived."""
        self._calls[call.id] = call
        self._body_bytes += call.body_bytes
        self._forget_some()
        self._tell("arrived", call)

    def sent(self, call: Call, data: bytes, at: Callable[[], Moment]) -> None:
        """Enter body bytes handed to the connection; the clock is read only for the first."""
        call.bytes_sent += len(data)
        if self.bodies_kept:
            call.sent += data
        if call.first_byte is None:
            call.first_byte = at()
            self._tell("first-byte", call)

    def end(self, call: Call, ended: Ended) -> None:
        """Enter how a call ended; only the first report counts."""
        if call.ended is None:
            call.ended = ended
            self._tell("ended", call)

    def clear(self) -> None:
        """Forget all calls that have ended, and all events."""
        for call in self.calls:
            if call.ended is not None:
                self._forget(call)
        self._events.clear()

    def events_after(self, sequence: int) -> list[CallEvent]:
        """The events kept whose number is larger than `sequence`."""
        return [event for event in self._events if event.sequence > sequence]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition over the book holds; it is looked at again after each change."""
        while not condition():
            await self._changed.wait()

    async def until_event_after(self, sequence: int) -> None:
        """Wait until there has been an event whose number is larger than `sequence`."""
        await self.until(lambda: self._last_event > sequence)

    def _tell(self, kind: EventKind, call: Call) -> None:
        self._last_event += 1
        self._events.append(CallEvent(self._last_event, kind, call.summary()))
        self._changed.set()
        self._changed = asyncio.Event()

    def _forget_some(self) -> None:
        while len(self._calls) > self.calls_kept or self._body_bytes > self.body_bytes_kept:
            oldest = next((call for call in self._calls.values() if call.ended is not None), None)
            if oldest is None:
                return
            self._forget(oldest)

    def _forget(self, call: Call) -> None:
        del self._calls[call.id]
        self._body_bytes -= call.body_bytes
