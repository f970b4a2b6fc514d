"""Control: every process that holds a stream reads this topic whole, so a stop reaches it on whichever machine it runs.

It is read from 10 minutes back, so a stop that came before its prompt still counts, and by the same predicate as the
fold uses (`schemas.stops.selects`), without a clock.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from schemas.errors import BadRecord, UnknownRecordType
from schemas.registry import decode
from schemas.stops import OneTurn, StopRequested, TurnInterrupted, selects
from services.runtime.clock import Clock
from services.runtime.log import Log, LogRecord
from services.runtime.logs import get_logger
from services.runtime.metrics import REFUSED_STOPS
from services.runtime.stop_checks import check_stop

log = get_logger("control")
TOPIC = "control"
READ_BACK_MS = 10 * 60_000
REMEMBERED = 20_000

Stop = StopRequested | TurnInterrupted
Remembered = TypeVar("Remembered", bound=Stop)


@dataclass(frozen=True, slots=True)
class _Watcher:
    turn: str
    caused_by: str
    hit: "asyncio.Future[Stop]"


class Control:
    """The stops of the last minutes, and whoever waits for one."""

    def __init__(self, to: Log, clock: Clock) -> None:
        self._tail = to.tail(TOPIC, since_ms=clock.now_ms() - READ_BACK_MS, on_record=self._apply)
        self._turns: OrderedDict[str, Stop] = OrderedDict()
        self._channels: OrderedDict[str, StopRequested] = OrderedDict()
        self._watchers: dict[str, list[_Watcher]] = {}

    async def start(self) -> None:
        """Read what is there, and go on in the background."""
        await self._tail.start()
        await self._tail.caught_up()

    async def stop(self) -> None:
        """Stop reading."""
        await self._tail.stop()

    def hit(self, turn: str, channel: str, caused_by: str) -> Stop | None:
        """The stop that hits the turn, if one is remembered. `caused_by` is the snowflake of the turn's message."""
        stop = self._turns.get(turn)
        if stop is not None:
            return stop
        widest = self._channels.get(channel)
        if widest is not None and selects(widest.target, turn=turn, caused_by=caused_by):
            return widest
        return None

    @asynccontextmanager
    async def watch(self, turn: str, channel: str, caused_by: str) -> "AsyncGenerator[asyncio.Future[Stop], None]":
        """A future that resolves with the stop that hits the turn; already resolved if one did before."""
        future: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        before = self.hit(turn, channel, caused_by)
        if before is not None:
            future.set_result(before)
        watcher = _Watcher(turn, caused_by, future)
        self._watchers.setdefault(channel, []).append(watcher)
        try:
            yield future
        finally:
            others = self._watchers[channel]
            others.remove(watcher)
            if not others:
                del self._watchers[channel]
            future.cancel()

    def _apply(self, read: LogRecord) -> None:
        try:
            facts, record = decode(read.headers, read.value)
            if not isinstance(record, StopRequested | TurnInterrupted):
                raise UnknownRecordType(f"{facts.type[:60]!r} is no stop")
            check_stop(read, record)
        except BadRecord as error:
            # No dead letter: each of many processes would write one, at each of its starts.
            REFUSED_STOPS.labels(error.reason).inc()
            log.error("stop refused", offset=read.offset, reason=error.reason, detail=str(error)[:300])
            return
        self._remember(record)
        for watcher in self._watchers.get(record.channel_id, ()):
            hit = self.hit(watcher.turn, record.channel_id, watcher.caused_by)
            if hit is not None and not watcher.hit.done():
                watcher.hit.set_result(hit)

    def _remember(self, record: Stop) -> None:
        if isinstance(record, TurnInterrupted):
            _keep(self._turns, record.turn, record)
        elif isinstance(record.target, OneTurn):
            _keep(self._turns, record.target.turn, record)
        else:
            # The widest stop of a channel covers all that earlier ones hit.
            known = self._channels.get(record.channel_id)
            if known is None or _reach(known) < int(record.target.before):
                _keep(self._channels, record.channel_id, record)


def _reach(stop: StopRequested) -> int:
    return 0 if isinstance(stop.target, OneTurn) else int(stop.target.before)


def _keep(into: "OrderedDict[str, Remembered]", key: str, value: Remembered) -> None:
    into[key] = value
    into.move_to_end(key)
    if len(into) > REMEMBERED:
        into.popitem(last=False)
