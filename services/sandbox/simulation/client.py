"""The log port of one simulated process: appends with latency, group membership, tails."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from math import inf

from services.runtime import membership
from services.runtime.errors import Unavailable
from services.runtime.log import Appended, GroupReader, LogRecord, Members, NewRecord, Tail
from services.runtime.membership import Membership
from services.sandbox.simulation.cluster import AppendFailed, Cluster
from services.sandbox.simulation.coordinator import Coordinator, Joined
from services.sandbox.simulation.hosts import Host

HEARTBEAT_S = 1.0
POLL_S = 0.5
ASK_AGAIN_S = 0.05
ACK_LOST_S = 2.0
READS_FAIL = 0.2
"""The part of whole reads that fail. Whoever knows what stands in the log writes no copies, so without it none would be."""


class SimulatedLog:
    """A cluster as one host sees it. `lose_ack` decides, append by append, whether the acknowledgement is lost."""

    def __init__(
        self, cluster: Cluster, coordinator: Coordinator, host: Host, instance: str, lose_ack: Callable[[], bool]
    ) -> None:
        self._cluster = cluster
        self._coordinator = coordinator
        self._host = host
        self._instance = instance
        self._lose_ack = lose_ack
        self._arrives: dict[tuple[str, int], float] = {}
        self._lanes: dict[tuple[str, int], deque[tuple[NewRecord, asyncio.Future[Appended]]]] = {}
        self.readers: list[SimulatedGroupReader] = []

    async def start(self) -> None:
        """Nothing to connect."""

    async def stop(self) -> None:
        """Nothing to close."""

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has."""
        return self._cluster.partitions(topic)

    async def send(self, record: NewRecord, partition: int) -> "asyncio.Future[Appended]":
        """Put a record on its way; those of one partition arrive in their order, also when this host dies."""
        cluster = self._cluster
        future: asyncio.Future[Appended] = cluster.loop.create_future()
        lane = (record.topic, partition)
        self._lanes.setdefault(lane, deque()).append((record, future))
        now = cluster.loop.time()
        arrives = max(self._arrives.get(lane, 0.0), now + cluster.back_in() + cluster.dice.uniform(0.0002, 0.003))
        self._arrives[lane] = arrives
        cluster.later(arrives - now, self._arrive, lane)
        return future

    def _arrive(self, lane: tuple[str, int]) -> None:
        cluster = self._cluster
        away = cluster.back_in()
        if away > 0:
            # The client repeats what a broker did not answer; order within the partition stays.
            cluster.later(away + 0.001, self._arrive, lane)
            return
        record, future = self._lanes[lane].popleft()
        appended = cluster.append(record, lane[1], cluster.now_ms() + self._host.skew_ms)
        if self._lose_ack():
            cluster.later(ACK_LOST_S, _fail, future)
        else:
            cluster.later(cluster.dice.uniform(0.0002, 0.003), _settle, future, appended)

    def group(self, topic: str, group: str) -> GroupReader:
        """A static member."""
        reader = SimulatedGroupReader(self._cluster, self._coordinator, topic, group, self._instance)
        self.readers.append(reader)
        return reader

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> Tail:
        """A tail of the whole topic."""
        return SimulatedTail(self._cluster, topic, since_ms, on_record)

    async def read_to_end(
        self, topic: str, partitions: Collection[int], *, since_ms: int = 0, first: Mapping[int, int] | None = None
    ) -> AsyncIterator[LogRecord]:
        """All records of the partitions from a time or an offset up to their present end; fails now and then."""
        cluster = self._cluster
        await asyncio.sleep(cluster.back_in() + cluster.dice.uniform(0.001, 0.02))
        if cluster.dice.random() < READS_FAIL:
            raise Unavailable("Kafka", f"{topic} cannot be read")
        for partition in partitions:
            begin = cluster.first_since(topic, partition, since_ms) if since_ms > 0 else 0
            for record in cluster.read(topic, partition, max(begin, (first or {}).get(partition, 0)), 1_000_000):
                yield record

    async def ends(self, topic: str, partitions: Collection[int]) -> Mapping[int, int]:
        """The partitions' ends."""
        await asyncio.sleep(self._cluster.back_in() + self._cluster.dice.uniform(0.001, 0.01))
        return {partition: self._cluster.end(topic, partition) for partition in partitions}


def _settle(future: "asyncio.Future[Appended]", appended: Appended) -> None:
    if not future.done():
        future.set_result(appended)


def _fail(future: "asyncio.Future[Appended]") -> None:
    if not future.done():
        future.set_exception(AppendFailed("no acknowledgement"))
        # The host may be dead, and then nobody looks.
        future.exception()


class SimulatedGroupReader:
    """One membership; heartbeats and rebalances run in a task of the host, so that a frozen host goes silent."""

    def __init__(
        self, cluster: Cluster, coordinator: Coordinator, topic: str, group: str, instance: str | None
    ) -> None:
        self._cluster = cluster
        self._coordinator = coordinator
        self._topic = topic
        self._group = coordinator.group(group, topic)
        self._instance = instance
        self._members: Members | None = None
        self._place: Joined | None = None
        self._held: Membership | None = None
        self._last: frozenset[int] = frozenset()
        self._positions: dict[int, int] = {}
        self._paused: set[int] = set()
        self._since: dict[int, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._confirmed = -inf
        self.member_id: str | None = None

    async def start(self, members: Members) -> None:
        """Join in the background."""
        self._members = members
        self._task = asyncio.create_task(self._membership(), name="membership")

    async def _membership(self) -> None:
        await self._ask()
        while True:
            place, sent = await self._join()
            self._assigned(place)
            self._confirmed = sent
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                sent = self._cluster.loop.time()
                await self._ask()
                answer = self._coordinator.heartbeat(self._group, place.member_id, place.generation)
                self._confirmed = -inf if answer == "unknown" else sent
                if answer != "ok":
                    break
            self._place = None
            self._revoked()
            if answer == "unknown":
                self.member_id = None

    async def _ask(self) -> None:
        """A request's way to the coordinator; waits while the broker is away."""
        await asyncio.sleep(self._cluster.back_in() + self._cluster.dice.uniform(0.0005, 0.005))
        while (away := self._cluster.back_in()) > 0:
            await asyncio.sleep(away)

    async def _join(self) -> tuple[Joined, float]:
        """The place, and when the request that was answered with it was sent."""
        while True:
            sent = self._cluster.loop.time()
            self.member_id, place = self._coordinator.join(self._group, self._instance, self.member_id)
            while place is None:
                await asyncio.sleep(ASK_AGAIN_S)
                sent = self._cluster.loop.time()
                await self._ask()
                answer = self._coordinator.place(self._group, self.member_id)
                if answer == "unknown":
                    self.member_id = None
                    break
                if isinstance(answer, Joined):
                    place = answer
            if place is not None:
                return place, sent

    def _revoked(self) -> None:
        if self._members is not None:
            self._members.revoked(self._last)

    def _assigned(self, place: Joined) -> None:
        before, self._held = self._held, Membership(place.member_id, place.generation)
        kept = membership.kept_partitions(before, self._held, self._last, place.partitions)
        self._last = place.partitions
        self._place = place
        self._paused = set()
        self._positions = {}
        if self._members is None:
            return
        positions = self._members.assigned(place.partitions, kept)
        now = self._cluster.loop.time()
        self._since = {
            partition: self._since[partition] if partition in positions else now for partition in place.partitions
        }
        self._coordinator.kept += [(now, self._topic, p, place.member_id, self._since[p]) for p in positions]
        for partition in place.partitions:
            if partition in positions:
                self._positions[partition] = positions[partition]
            else:
                self._positions[partition] = self._group.committed.get(partition, 0)
                self._paused.add(partition)

    def evict(self) -> None:
        """Be thrown out by the coordinator, without knowing."""
        if self.member_id is not None:
            self._coordinator.evict(self._group, self.member_id)

    async def fetch(self, max_records: int) -> list[LogRecord]:
        """The next records; waits for half a second at most."""
        loop = self._cluster.loop
        end = loop.time() + POLL_S
        while True:
            found = self._take(max_records)
            if found:
                place = self._place
                await asyncio.sleep(self._cluster.dice.uniform(0.0002, 0.002))
                # What was fetched for another assignment is thrown away, as the client does.
                if place is self._place:
                    for record in found:
                        self._positions[record.partition] = record.offset + 1
                    return found
                continue
            left = end - loop.time()
            if left <= 0:
                return []
            grown = self._cluster.grown(self._topic)
            await asyncio.wait({grown}, timeout=left)

    def _take(self, most: int) -> list[LogRecord]:
        if self._place is None or self._cluster.back_in() > 0:
            return []
        found: list[LogRecord] = []
        for partition in self._place.partitions:
            if partition not in self._paused:
                found += self._cluster.read(self._topic, partition, self._positions[partition], most - len(found))
        return found

    async def commit(self, offsets: Mapping[int, int]) -> bool:
        """Commit; False where the group did not take it."""
        place = self._place
        if place is None:
            return False
        await self._ask()
        return self._coordinator.commit(self._group, place.member_id, place.generation, offsets)

    def heartbeat_age_s(self) -> float:
        """Seconds since the last confirmed heartbeat was sent."""
        return self._cluster.loop.time() - self._confirmed

    def pause(self, partition: int) -> None:
        """Fetch nothing more of the partition."""
        self._paused.add(partition)

    def resume(self, partition: int) -> None:
        """Fetch the partition again."""
        self._paused.discard(partition)

    async def stop(self, *, leave: bool) -> None:
        """End the membership."""
        self._confirmed = -inf
        if self._task is not None:
            self._task.cancel()
        if leave and self.member_id is not None:
            await self._ask()
            self._coordinator.leave(self._group, self.member_id)
        self._place = None


class SimulatedTail:
    """Follows a topic from a point in time on."""

    def __init__(self, cluster: Cluster, topic: str, since_ms: int, on_record: Callable[[LogRecord], None]) -> None:
        self._cluster = cluster
        self._topic = topic
        self._since_ms = since_ms
        self._on_record = on_record
        self._positions: dict[int, int] = {}
        self._goals: dict[int, int] = {}
        self._caught_up = asyncio.Event()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to read in the background."""
        await asyncio.sleep(self._cluster.back_in() + self._cluster.dice.uniform(0.001, 0.01))
        for partition in range(self._cluster.partitions(self._topic)):
            self._positions[partition] = self._cluster.first_since(self._topic, partition, self._since_ms)
            self._goals[partition] = self._cluster.end(self._topic, partition)
        self._task = asyncio.create_task(self._run(), name=f"tail {self._topic}")

    async def _run(self) -> None:
        cluster = self._cluster
        while True:
            away = cluster.back_in()
            if away > 0:
                await asyncio.sleep(away)
                continue
            grown = cluster.grown(self._topic)
            for partition, position in self._positions.items():
                for record in cluster.read(self._topic, partition, position, 1_000):
                    self._on_record(record)
                    self._positions[partition] = record.offset + 1
            self._wake()
            if all(self._positions[p] >= goal for p, goal in self._goals.items()):
                self._caught_up.set()
            if not grown.done():
                await asyncio.wait({grown})
            await asyncio.sleep(cluster.dice.uniform(0.0003, 0.002))

    def _wake(self) -> None:
        still: list[tuple[int, int, asyncio.Future[None]]] = []
        for partition, offset, future in self._waiting:
            if not future.done():
                if self._positions[partition] > offset:
                    future.set_result(None)
                else:
                    still.append((partition, offset, future))
        self._waiting = still

    async def caught_up(self) -> None:
        """Wait until everything that was there at `start` has been read."""
        await self._caught_up.wait()

    async def reached(self, partition: int, offset: int) -> None:
        """Wait until the record at `offset` has been read."""
        if self._positions[partition] > offset:
            return
        future: asyncio.Future[None] = self._cluster.loop.create_future()
        self._waiting.append((partition, offset, future))
        await future

    def at_end(self, partition: int) -> bool:
        """Whether the last fetch came to the partition's end; a broker that is away answers no fetch."""
        if self._cluster.back_in() > 0:
            return False
        return self._positions[partition] >= self._cluster.end(self._topic, partition)

    async def stop(self) -> None:
        """End reading."""
        if self._task is not None:
            self._task.cancel()
