"""The feed: reads a group's partitions, gives each record to its channel's mailbox, and commits what is finished.

Rules kept here
- A batch is routed without awaiting anything; records of partitions that are no longer ours are dropped.
- Only the contiguous prefix of finished offsets is committed (`services.runtime.acks`).
- A partition that was not kept over a rebalance is dropped and recovered, paused, in a task of its own: a rebalance
  callback sends no heartbeats, so recovery inside one would lose the membership.
- A partition with too many records read and not yet *processed* is paused. Processed but unfinished ones do not count,
  or an open stream could keep its own end from being read.
- However much there is to do, heartbeats are sent (`services.runtime.loop_step`).
- A record that cannot be handled is dead-lettered and its turn ends with an error; a dependency that is away is waited for.
"""

import asyncio
import contextlib
import time
from collections.abc import Collection, Coroutine, Mapping
from functools import partial

from schemas.errors import BadRecord, WrongPartition
from schemas.headers import Facts, HeaderReader
from schemas.topics import Topics
from services.runtime import metrics
from services.runtime.acks import Acks
from services.runtime.dead_letters import TOPIC as DEAD_LETTERS
from services.runtime.dead_letters import dead_letter
from services.runtime.errors import Poison, RecordTooLarge, Unavailable
from services.runtime.handler import Handler
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import GroupReader, Log, LogRecord
from services.runtime.logs import get_logger
from services.runtime.loop_step import LoopStep
from services.runtime.mailboxes import Mailboxes
from services.runtime.partitions import partition_of
from services.runtime.sender import Sender

log = get_logger("feed")
COMMIT_EVERY_S = 0.2
RETRY_FIRST_S = 0.1
RETRY_MOST_S = 10.0
COMMIT_AT_STOP_S = 3.0
FETCH_RECORDS = 2_000


class _Partition:
    """What is known of one assigned partition since it was last assigned without being kept."""

    def __init__(self, feed: "Feed", number: int) -> None:
        self.number = number
        self.acks = Acks()
        self.mailboxes = Mailboxes(self._process)
        self.next_offset: int | None = None
        self.committed: int | None = None
        self.unprocessed = 0
        self.recovering = True
        self.paused = False
        self.gone = asyncio.Event()
        self._feed = feed

    async def _process(self, inbound: Inbound, pending: Pending) -> None:
        if not self.gone.is_set():
            await self._feed.process(self, inbound, pending)


class Feed:
    """One worker's input. `run` ends after `stop`."""

    def __init__(
        self, *, service: str, topic: str, log_port: Log, reader: GroupReader, sender: Sender, handler: Handler,
        topics: Topics, max_unprocessed: int,
    ) -> None:  # fmt: skip
        self._service = service
        self._topic = topic
        self._reader = reader
        self._sender = sender
        self._handler = handler
        self._partition_count = log_port.partitions(topic)
        self._dead_letter_bytes = topics.topics[DEAD_LETTERS].max_bytes
        self._max_unprocessed = max_unprocessed
        self._owned: dict[int, _Partition] = {}
        self._suspended: dict[int, _Partition] = {}
        self._lost: list[_Partition] = []
        self._recoveries: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._progress = asyncio.Event()
        self._step = LoopStep()
        metrics.UNPROCESSED.set_function(lambda: sum(p.unprocessed for p in self._owned.values()))
        metrics.UNFINISHED.set_function(lambda: sum(p.acks.open for p in self._owned.values()))
        self.served_once = asyncio.Event()
        """Set when all partitions of an assignment have been recovered, so that their records are read."""

    # -- the group's word ------------------------------------------------------------------------------------------

    def revoked(self, partitions: Collection[int]) -> None:
        """A rebalance begins: nothing is fetched, what is being processed goes on."""
        self._suspended |= self._owned
        self._owned = {}

    def assigned(self, partitions: Collection[int], kept: Collection[int]) -> Mapping[int, int]:
        """The new assignment; see `services.runtime.log.Members`."""
        metrics.REBALANCES.inc()
        # A recovering partition is never kept, so one that is still under way would only overwrite its successor's work.
        for recovery in self._recoveries:
            recovery.cancel()
        before, self._suspended = self._suspended, {}
        positions: dict[int, int] = {}
        fresh: list[int] = []
        for number in partitions:
            old = before.get(number)
            if number in kept and old is not None and not old.recovering and old.next_offset is not None:
                before.pop(number)
                self._owned[number] = old
                positions[number] = old.next_offset
                if old.paused:
                    self._reader.pause(number)
            else:
                self._owned[number] = _Partition(self, number)
                fresh.append(number)
        for old in before.values():
            old.gone.set()
            old.mailboxes.drop()
        self._lost = [old for old in (*self._lost, *before.values()) if old.mailboxes.busy]
        if before:
            try:
                self._handler.dropped(tuple(before))
            except Exception:
                log.exception("defect in the handler while it drops partitions", topic=self._topic)
        metrics.OWNED.set(len(self._owned))
        log.info("assigned", topic=self._topic, kept=sorted(positions), fresh=sorted(fresh))
        if fresh:
            recovery = self._spawn(self._recover({n: self._owned[n] for n in fresh}))
            self._recoveries.add(recovery)
            recovery.add_done_callback(self._recoveries.discard)
        else:
            self.served_once.set()
        return positions

    async def _recover(self, fresh: dict[int, _Partition]) -> None:
        retry_s = RETRY_FIRST_S
        while True:
            wanted = {n: p for n, p in fresh.items() if not p.gone.is_set()}
            if not wanted:
                return
            try:
                await self._handler.recover(tuple(wanted))
                break
            except Exception as error:
                log.exception("recovery failed, will be repeated", error=type(error).__name__, often=True)
                await asyncio.sleep(retry_s)
                retry_s = min(retry_s * 2, RETRY_MOST_S)
        for number, partition in wanted.items():
            if self._owned.get(number) is partition:
                partition.recovering = False
                self._reader.resume(number)
        if not any(partition.recovering for partition in self._owned.values()):
            self.served_once.set()

    # -- records ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read and route until `stop`."""
        await self._reader.start(self)
        self._spawn(self._commit_regularly())
        while not self._stopping.is_set():
            try:
                batch = await self._reader.fetch(FETCH_RECORDS)
            except Exception as error:
                log.warning("fetch failed", error=type(error).__name__, detail=str(error)[:200], often=True)
                await asyncio.sleep(0.5)
                continue
            if self._stopping.is_set():
                return
            for record in batch:
                self._route(record)
            # A fetch that finds records waiting does not wait itself.
            await self._step.breathe()
            if batch:
                metrics.READ.labels(self._topic).inc(len(batch))
                self._apply_backpressure()

    def _route(self, record: LogRecord) -> None:
        partition = self._owned.get(record.partition)
        if partition is None or partition.recovering:
            return
        if partition.next_offset is not None and record.offset < partition.next_offset:
            return
        partition.next_offset = record.offset + 1
        partition.acks.read(record.offset)
        partition.unprocessed += 1

        pending = Pending(partial(self._finished, partition, record.offset))
        try:
            facts = HeaderReader(record.headers).facts()
            self._check_place(record, facts)
        except BadRecord as error:
            unknown = Facts(type="", version=0, id="", channel="")
            self._bury(Inbound(record, unknown, self._sender, pending), None, error.reason, str(error))
            partition.unprocessed -= 1
            pending.release()
            return
        inbound = Inbound(record, facts, self._sender, pending)
        done = False
        try:
            done = self._handler.arrived(inbound)
        except Exception:
            log.exception("defect in the handler at a record's arrival", topic=self._topic, offset=record.offset)
        if done:
            partition.unprocessed -= 1
            pending.release()
        else:
            partition.mailboxes.put(facts.channel, inbound, pending)

    def _check_place(self, record: LogRecord, facts: Facts) -> None:
        if record.key is None:
            raise WrongPartition("the record has no key, so nobody knows its channel")
        right = partition_of(record.key, self._partition_count)
        if right != record.partition:
            raise WrongPartition(f"the record's key belongs to partition {right}, it lies in {record.partition}")
        if record.key != facts.channel.encode():
            raise WrongPartition("the record's key is not the channel of its headers, so it lies where no reader looks")

    async def process(self, partition: _Partition, inbound: Inbound, pending: Pending) -> None:
        """Hand one record to the handler until it is handled, dead-lettered, or its partition is gone."""
        started = time.perf_counter()
        retry_s = RETRY_FIRST_S
        while not partition.gone.is_set():
            try:
                await self._handler.handle(inbound)
            except Unavailable as error:
                metrics.RETRIES.labels(error.dependency).inc()
                log.warning(
                    "waiting for a dependency", dependency=error.dependency, detail=str(error)[:200], often=True
                )
                wait_s = error.retry_after_s if error.retry_after_s is not None else retry_s
                retry_s = min(retry_s * 2, RETRY_MOST_S)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await partition.gone.wait()
                continue
            except (BadRecord, Poison) as error:
                self._bury(inbound, inbound.facts, error.reason, str(error))
            except Exception as error:
                log.exception("defect in the handler", turn=inbound.facts.turn, channel=inbound.facts.channel)
                self._bury(inbound, inbound.facts, "defect", type(error).__name__)
            break
        else:
            return
        partition.unprocessed -= 1
        pending.release()
        metrics.HANDLE_SECONDS.labels(self._topic).observe(time.perf_counter() - started)
        # One that is gone may be ours again and recovering: what is fetched now would be passed over.
        resumes = partition.paused and not partition.gone.is_set()
        if resumes and partition.unprocessed <= self._max_unprocessed // 2:
            partition.paused = False
            self._reader.resume(partition.number)

    def _bury(self, inbound: Inbound, facts: Facts | None, reason: str, message: str) -> None:
        record = inbound.record
        metrics.DEAD_LETTERS.labels(record.topic, reason).inc()
        log.error(
            "dead letter", topic=record.topic, partition=record.partition, offset=record.offset, reason=reason,
            detail=message[:500], turn=facts.turn if facts else None, channel=facts.channel if facts else None,
        )  # fmt: skip
        inbound.emit(
            dead_letter(
                record, service=self._service, reason=reason, message=message, max_bytes=self._dead_letter_bytes
            )
        )
        try:
            for new in self._handler.refuse(record, facts, reason, message):
                with contextlib.suppress(RecordTooLarge):
                    inbound.emit(new)
        except Exception:
            # What the turn's end is made from is as bad as the record itself.
            log.exception("defect in the handler, the turn ends by its deadline", topic=record.topic)

    def _apply_backpressure(self) -> None:
        paused = 0
        for partition in self._owned.values():
            if not partition.paused and partition.unprocessed > self._max_unprocessed:
                partition.paused = True
                self._reader.pause(partition.number)
            paused += partition.paused or partition.recovering
        metrics.PAUSED.set(paused)

    # -- commits ---------------------------------------------------------------------------------------------------

    def _finished(self, partition: _Partition, offset: int) -> None:
        partition.acks.finished(offset)
        self._progress.set()

    async def _commit_regularly(self) -> None:
        while True:
            await self._progress.wait()
            self._progress.clear()
            await asyncio.sleep(COMMIT_EVERY_S)
            try:
                committed = await self.commit()
            except Exception:
                log.exception("commit failed, will be repeated", topic=self._topic, often=True)
                committed = False
            if not committed:
                self._progress.set()

    async def commit(self) -> bool:
        """Commit every partition whose finished prefix has grown; False where the group did not take it."""
        grown = {
            n: (p, p.acks.committable)
            for n, p in self._owned.items()
            if p.acks.committable is not None and p.acks.committable != p.committed
        }
        if not grown:
            return True
        if not await self._reader.commit({n: offset for n, (_, offset) in grown.items()}):
            return False
        for partition, offset in grown.values():
            partition.committed = offset
        return True

    # -- the end ---------------------------------------------------------------------------------------------------

    async def stop(self, *, finish_s: float, leave: bool) -> None:
        """Stop reading, drop what has not begun, leave the group, and let what has begun go on for `finish_s` seconds.

        What is finished before we leave is committed; the rest is read again by the next owner. What has begun in
        partitions that went elsewhere goes on too. Takes some seconds more than `finish_s` where the broker is away.
        """
        self._stopping.set()
        ends = asyncio.get_running_loop().time() + finish_s
        partitions = [*self._owned.values(), *self._suspended.values(), *self._lost]
        for partition in partitions:
            partition.mailboxes.drop()
        running = asyncio.gather(*(p.mailboxes.idle() for p in partitions))
        quick = min(finish_s, 0.5)
        await asyncio.wait([running], timeout=quick)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._sender.flush()
        for task in self._background:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMMIT_AT_STOP_S):
                await self.commit()
        await self._reader.stop(leave=leave)
        # Whoever owns the partitions now tries again what has to be.
        for partition in partitions:
            partition.gone.set()
        await asyncio.wait([running], timeout=max(0.0, ends - asyncio.get_running_loop().time()))
        for partition in partitions:
            partition.mailboxes.cancel()
        await asyncio.wait([running], timeout=2.0)

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
