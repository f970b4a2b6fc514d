"""Claims: what the world would notice twice starts only after its claim stands in the log as the first.

The fault that this guards against: two processes, or two lives of one, that both make a provider call for the same
generation. It costs one produce and one fetch. A holder says every 2 s that it lives; after 6 s of silence, counted only
while we read at the end of the log, whoever owns the partition closes the effect as lost. A new process in the exclusive
slot of a dead one closes its predecessor's claims at once, since two cannot hold the slot.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from schemas.claims import Alive, Claimed, Closed, Closing
from schemas.errors import BadRecord
from schemas.registry import decode
from services.runtime.claim_book import OPEN_KEPT_S, ClaimBook
from services.runtime.clock import Clock
from services.runtime.log import Appended, Log, LogRecord, NewRecord
from services.runtime.logs import get_logger
from services.runtime.metrics import CLAIMS_OPEN
from services.runtime.outputs import output
from services.runtime.partitions import partition_of
from services.runtime.sender import Sender

log = get_logger("claims")
TOPIC = "claims"
ALIVE_EVERY_S = 2.0
SILENCE_S = 6.0
WATCH_EVERY_S = 0.25
PAUSE_S = 4.0
"""How long our own writes may have paused before a holder has to look; shorter than the silence of others."""

READ_BACK_MS = OPEN_KEPT_S * 1_000
"""How far back claims are read at a start.

The smallest un-acked prompt is not known before the group has been joined, and reading hours of Alive records would delay
each start after an outage, for the same end.
"""


@dataclass(frozen=True, slots=True)
class Won:
    """The effect is ours: act, and close it at the end."""


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody else claimed it first and has not closed it."""

    instance: str


@dataclass(frozen=True, slots=True)
class Ended:
    """It was closed before."""

    outcome: Closing


class Claims:
    """One process's view of the claims topic. `instance` is its slot, `incarnation` this life of it."""

    def __init__(
        self, to: Log, sender: Sender, clock: Clock, *, instance: str, incarnation: str, exclusive: bool
    ) -> None:
        self.instance = instance
        self.incarnation = incarnation
        self._exclusive = exclusive
        self._log = to
        self._sender = sender
        self._clock = clock
        self._book = ClaimBook()
        CLAIMS_OPEN.set_function(lambda: self._book.open_count)
        self._tail = to.tail(TOPIC, since_ms=clock.now_ms() - READ_BACK_MS, on_record=self._apply)
        self._closed: dict[str, asyncio.Event] = {}
        self._given: set[str] = set()
        self._guards: dict[str, asyncio.Future[None]] = {}
        self._acknowledged_s = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Read the topic up to its end, close what the slot's former process left, and begin to say that we live."""
        await self._tail.start()
        await self._tail.caught_up()
        if self._exclusive:
            for effect, channel in self._book.held_by_predecessors(self.instance, self.incarnation):
                log.info("closing a predecessor's claim as lost", effect=effect)
                await self.close(effect, channel, "lost")
        self._tasks = [asyncio.create_task(self._say_alive(), name="claims alive")]

    async def stop(self) -> None:
        """Stop reading and saying that we live."""
        for task in self._tasks:
            task.cancel()
        await self._tail.stop()

    async def claim(self, effect: str, channel: str) -> Won | Held | Ended:
        """Claim an effect, and say whether it is ours; waits for the broker without bound.

        An open effect is given out as Won once: whoever asks for it again in this process meanwhile finds it Held by us.
        """
        known = self._judge(effect)
        if known is not None:
            return known
        claimed = Claimed(effect=effect, instance=self.instance, incarnation=self.incarnation)
        await self._write(claimed, f"{effect}:claimed:{self.incarnation}", channel)
        return self._judge(effect) or Held(instance="unknown")

    async def close(self, effect: str, channel: str, outcome: Closing) -> None:
        """Say how an effect ended; returns when the record is acknowledged and read back. The first close counts."""
        closed = Closed(effect=effect, outcome=outcome, by=self.incarnation)
        await self._write(closed, f"{effect}:closed:{self.incarnation}", channel)

    @asynccontextmanager
    async def guard(self, effect: str) -> "AsyncGenerator[asyncio.Future[None], None]":
        """For the holder: a future that resolves when somebody else has closed the effect, so that it must end."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._guards[effect] = future
        if self._book.outcome(effect) is not None:
            future.set_result(None)
        try:
            yield future
        finally:
            self._guards.pop(effect, None)
            future.cancel()

    def paused(self) -> bool:
        """Whether our own writes stood still so long that somebody may have declared us lost."""
        return asyncio.get_running_loop().time() - self._acknowledged_s > PAUSE_S

    async def confirm(self, effect: str, channel: str) -> bool:
        """Read the channel's claims up to now, and say whether we still hold the effect."""
        alive = Alive(instance=self.instance, incarnation=self.incarnation)
        await self._write(alive, f"alive:{self.incarnation}:{effect}:{self._clock.now_ms()}", channel)
        return self._book.outcome(effect) is None

    async def outcome(self, effect: str, channel: str) -> Closing:
        """Wait until the effect is closed, and close it as lost ourselves once its holder has been silent too long.

        Silence is counted from the moment at which we began to watch, and anew after every gap in our own reading.
        """
        partition = partition_of(channel.encode(), self._log.partitions(TOPIC))
        loop = asyncio.get_running_loop()
        closed = self._closed.setdefault(effect, asyncio.Event())
        silent_since = last_look = loop.time()
        try:
            while True:
                outcome = self._book.outcome(effect)
                if outcome is not None:
                    return outcome
                now = loop.time()
                holder = self._book.holder(effect)
                heard = None if holder is None else self._book.last_heard(holder.incarnation)
                if not self._tail.at_end(partition) or now - last_look > 1.0:
                    silent_since = now
                elif heard is not None:
                    silent_since = max(silent_since, heard)
                last_look = now
                if now - silent_since >= SILENCE_S:
                    log.warning("declaring lost", effect=effect, holder=None if holder is None else holder.instance)
                    await self.close(effect, channel, "lost")
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(WATCH_EVERY_S):
                        await closed.wait()
        finally:
            self._closed.pop(effect, None)

    def _judge(self, effect: str) -> Won | Held | Ended | None:
        outcome = self._book.outcome(effect)
        if outcome is not None:
            return Ended(outcome)
        holder = self._book.holder(effect)
        if holder is None:
            return None
        if holder.incarnation != self.incarnation or effect in self._given:
            return Held(holder.instance)
        self._given.add(effect)
        return Won()

    async def _write(self, record: Claimed | Alive | Closed, event_id: str, channel: str) -> None:
        appended = await self._send(output(TOPIC, record, channel=channel, event_id=event_id))
        await self._tail.reached(appended.partition, appended.offset)

    def _send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        """Send, and remember when: a process that was frozen may see an old acknowledgement late."""
        written = self._sender.send(new)
        written.add_done_callback(partial(self._note_acknowledged, asyncio.get_running_loop().time()))
        return written

    def _note_acknowledged(self, sent_s: float, written: "asyncio.Future[Appended]") -> None:
        if not written.cancelled() and written.exception() is None:
            self._acknowledged_s = max(self._acknowledged_s, sent_s)

    def _apply(self, read: LogRecord) -> None:
        try:
            facts, record = decode(read.headers, read.value)
        except BadRecord as error:
            log.error("unreadable claim", partition=read.partition, offset=read.offset, reason=error.reason)
            return
        if not isinstance(record, Claimed | Alive | Closed):
            log.error("not a claim", partition=read.partition, offset=read.offset, type=facts.type)
            return
        now = asyncio.get_running_loop().time()
        effect = self._book.apply(record, channel=facts.channel, partition=read.partition, now=now)
        if effect is None:
            return
        self._given.discard(effect)
        if effect in self._closed:
            self._closed[effect].set()
        guard = self._guards.get(effect)
        if guard is not None and not guard.done() and isinstance(record, Closed) and record.by != self.incarnation:
            guard.set_result(None)

    async def _say_alive(self) -> None:
        alive = Alive(instance=self.instance, incarnation=self.incarnation)
        while True:
            await asyncio.sleep(ALIVE_EVERY_S)
            now = self._clock.now_ms()
            for partition in self._book.partitions_held(self.incarnation):
                event_id = f"alive:{self.incarnation}:{partition}:{now}"
                self._send(output(TOPIC, alive, channel=self.instance, event_id=event_id, partition=partition))
