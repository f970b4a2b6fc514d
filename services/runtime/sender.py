"""The sender: one task an output partition, so that a partition's records are appended in the order of `send`.

It sends at once after a quiet moment; what comes within GATHER_S of that goes out together, whatever its partition, since
a request costs the client and the broker far more than a record in it. An append that fails is repeated
together with everything behind it (go back N), and none is dropped: the copies that are acknowledged to the caller stand
in order. So a record may stand in the log twice; readers drop the second by its id. An idempotent producer's broker
refuses what was sent behind a failure, so there the first copies stand in order too; on the embedded broker a record
may stand before an earlier one that failed, and once more behind it.
"""

import asyncio
from collections import deque

from schemas.topics import Topics
from services.runtime.errors import RecordTooLarge
from services.runtime.log import Appended, Log, NewRecord
from services.runtime.logs import get_logger
from services.runtime.metrics import APPENDED, APPENDS_REPEATED
from services.runtime.partitions import partition_of

log = get_logger("sender")
ENVELOPE_BYTES = 60_000
"""What key and headers may take; the topics' limits on the cluster leave 64 KiB for them (`TopicSpec.kafka_config`)."""

GATHER_S = 0.005
"""How long after records went out the next ones wait for others; at a low rate hardly any does."""

BURST_S = 0.001
"""How long the way stays open: what one fetch led to is handed over in one step of the loop, and must not be parted."""

STALLED_S = 5.0
"""For so long the broker may acknowledge nothing of what a partition was given before the process counts as not ready."""

RETRY_FIRST_S = 0.1
RETRY_MOST_S = 5.0


class Sender:
    """Appends records in order. One a process; `close` waits for what is under way."""

    def __init__(self, to: Log, topics: Topics) -> None:
        self._log = to
        self._limits = {name: spec.max_bytes for name, spec in topics.topics.items()}
        self._gate = _Gate()
        self._lanes: dict[tuple[str, int], _Lane] = {}

    def send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        """Queue a record; the future resolves when the broker has acknowledged it.

        Raises RecordTooLarge where the value exceeds the limit of its topic in topics.yaml, or key and headers
        ENVELOPE_BYTES: the broker would refuse it for ever, and everything behind it would wait.
        """
        size = len(new.value or b"")
        if size > self._limits[new.topic]:
            raise RecordTooLarge(
                f"a value of {size} bytes is over the limit of {self._limits[new.topic]} of {new.topic}"
            )
        envelope = len(new.key) + sum(len(name) + len(header) for name, header in new.headers)
        if envelope > ENVELOPE_BYTES:
            raise RecordTooLarge(f"key and headers of {envelope} bytes for {new.topic} are over {ENVELOPE_BYTES}")
        partition = new.partition
        if partition is None:
            partition = partition_of(new.key, self._log.partitions(new.topic))
        lane = self._lanes.get((new.topic, partition))
        if lane is None:
            lane = self._lanes[new.topic, partition] = _Lane(self._log, self._gate, new.topic, partition)
        return lane.put(new)

    def stalled(self) -> str | None:
        """What a ready check says: which partition the broker has acknowledged nothing of for STALLED_S, None where none."""
        now = asyncio.get_running_loop().time()
        waits = {place: now - lane.since_s for place, lane in self._lanes.items() if not lane.empty.is_set()}
        late = {place: waited_s for place, waited_s in waits.items() if waited_s >= STALLED_S}
        if not late:
            return None
        topic, partition = max(late, key=lambda place: late[place])
        others = f" and {len(late) - 1} more" if len(late) > 1 else ""
        return f"no write to {topic}/{partition}{others} is acknowledged for {late[topic, partition]:.0f} s"

    async def flush(self) -> None:
        """Wait until everything that was queued is acknowledged; without bound, so bring a timeout."""
        await asyncio.gather(*(lane.empty.wait() for lane in self._lanes.values()))

    async def close(self, *, within_s: float) -> None:
        """Flush for at most `within_s` seconds, then stop; what is not acknowledged by then stays un-acked."""
        try:
            async with asyncio.timeout(within_s):
                await self.flush()
        except TimeoutError:
            log.warning(
                "closed with unacknowledged records", lanes=sum(not n.empty.is_set() for n in self._lanes.values())
            )
        for lane in self._lanes.values():
            lane.cancel()


class _Gate:
    """Lets everything through for a moment, then nothing until GATHER_S after that moment began."""

    def __init__(self) -> None:
        self._opened_s = float("-inf")
        self._opens: asyncio.Future[None] | None = None

    async def passed(self) -> None:
        """Wait until the way is open."""
        loop = asyncio.get_running_loop()
        since_s = loop.time() - self._opened_s
        if self._opens is None:
            if since_s <= BURST_S:
                return
            if since_s >= GATHER_S:
                self._opened_s = loop.time()
                return
            self._opens = loop.create_future()
            loop.call_at(self._opened_s + GATHER_S, self._open)
        await asyncio.shield(self._opens)

    def _open(self) -> None:
        opens, self._opens = self._opens, None
        self._opened_s = asyncio.get_running_loop().time()
        if opens is not None:
            opens.set_result(None)


class _Lane:
    """The queue and task of one output partition."""

    def __init__(self, to: Log, gate: _Gate, topic: str, partition: int) -> None:
        self._log = to
        self._gate = gate
        self._topic = topic
        self._partition = partition
        self._queue: deque[tuple[NewRecord, asyncio.Future[Appended]]] = deque()
        self._window: deque[tuple[NewRecord, asyncio.Future[Appended], asyncio.Future[Appended]]] = deque()
        self._work = asyncio.Event()
        self._failed = False
        self._retry_s = RETRY_FIRST_S
        self.since_s = 0.0
        """Since when something waits, or when the broker last acknowledged something meanwhile."""
        self.empty = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"sender {topic}/{partition}")

    def put(self, new: NewRecord) -> "asyncio.Future[Appended]":
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        if not self._queue and not self._window:
            self.since_s = asyncio.get_running_loop().time()
        self._queue.append((new, future))
        self.empty.clear()
        self._work.set()
        return future

    def cancel(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._failed:
                await self._go_back()
            while self._queue and not self._failed:
                await self._gate.passed()
                if self._failed:  # what is sent before the failed one is repeated would overtake it
                    break
                # It stays in the queue meanwhile, so that the lane does not look empty.
                new, promised = self._queue[0]
                try:
                    acknowledged = await self._log.send(new, self._partition)
                except Exception as error:
                    self._note_failure(error)
                    break
                self._queue.popleft()
                self._window.append((new, promised, acknowledged))
                acknowledged.add_done_callback(self._settled)

    def _settled(self, acknowledged: "asyncio.Future[Appended]") -> None:
        """Resolve promises from the front of the window, so that they too come in order."""
        if acknowledged.cancelled() or acknowledged.exception() is not None:
            self._note_failure(None if acknowledged.cancelled() else acknowledged.exception())
            return
        while self._window and not self._failed:
            _, promised, first = self._window[0]
            if not first.done() or first.cancelled() or first.exception() is not None:
                break
            self._window.popleft()
            self._retry_s = RETRY_FIRST_S
            self.since_s = asyncio.get_running_loop().time()
            APPENDED.labels(self._topic).inc()
            if not promised.done():
                promised.set_result(first.result())
        if not self._window and not self._queue:
            self.empty.set()

    def _note_failure(self, error: BaseException | None) -> None:
        if not self._failed:
            log.warning("append failed, will be repeated", topic=self._topic, error=type(error).__name__, often=True)
        self._failed = True
        self._work.set()

    async def _go_back(self) -> None:
        """Wait until nothing of the window is under way, then queue all of it again in front."""
        if self._window:
            await asyncio.wait([acknowledged for _, _, acknowledged in self._window])
        APPENDS_REPEATED.labels(self._topic).inc(len(self._window) or 1)
        self._queue.extendleft((new, promised) for new, promised, _ in reversed(self._window))
        self._window.clear()
        await asyncio.sleep(self._retry_s)
        self._retry_s = min(self._retry_s * 2, RETRY_MOST_S)
        self._failed = False
