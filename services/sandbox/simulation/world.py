"""One world a seed: its processes, its people and its faults, run until nothing goes on, and the history that comes out."""

import asyncio

from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from services.runtime.log import LogRecord
from services.sandbox.checking.history import Commit, History, Kept, Owned, ProviderCall, ShownMessage, Written
from services.sandbox.simulation.code import NEW
from services.sandbox.simulation.discord import BOT_ID
from services.sandbox.simulation.faults import ACTIVE_S, FaultName
from services.sandbox.simulation.people import People
from services.sandbox.simulation.processes import Processes
from services.sandbox.simulation.stage import PARTITIONS, Stage

REST_WITHIN_S = 2_400.0
SETTLE_S = 8.0


class World:
    """The world of one seed. `run` returns its history; `allowed` are the faults that may befall it."""

    def __init__(self, seed: int, allowed: frozenset[FaultName]) -> None:
        self.stage = Stage(seed, allowed)
        self.processes = Processes(self.stage)
        self.people = People(self.stage)
        self._started: set[str] = set()
        self._finished: set[str] = set()
        self.stage.cluster.watchers.append(self._watch)

    @property
    def virtual_s(self) -> float:
        """Virtual seconds since the start."""
        return self.stage.loop.time()

    def run(self) -> History:
        """Run until nothing goes on any more, or until it is clear that something hangs."""
        asyncio.set_event_loop(None)
        at_rest = self.stage.loop.run_until_complete(self._run())
        return self._history(at_rest)

    async def _run(self) -> bool:
        self.processes.start()
        self.people.plan()
        self.stage.at(ACTIVE_S / 2, lambda: self.stage.cluster.compact("channels"))
        await asyncio.sleep(ACTIVE_S)
        self.processes.heal()
        quiet_since: float | None = None
        while self.virtual_s < REST_WITHIN_S:
            await asyncio.sleep(1.0)
            if self._quiet():
                quiet_since = self.virtual_s if quiet_since is None else quiet_since
                if self.virtual_s - quiet_since >= SETTLE_S:
                    return True
            else:
                quiet_since = None
        return False

    def _quiet(self) -> bool:
        away = self.stage.discord.is_away() or self.stage.cluster.back_in() > 0
        return self.processes.all_up() and not away and self._started <= self._finished and self._drained()

    def _drained(self) -> bool:
        cluster = self.stage.cluster
        for group in self.stage.coordinator.groups().values():
            for partition in range(cluster.partitions(group.topic)):
                if group.committed.get(partition, 0) < cluster.end(group.topic, partition):
                    return False
        return True

    def _watch(self, record: LogRecord) -> None:
        try:
            reader = HeaderReader(record.headers)
            kind, turn = reader.text("type"), reader.text("turn")
        except BadRecord:
            return
        if turn is not None and record.topic == "inbox" and kind == "MessageReceived":
            self._started.add(turn)
        elif turn is not None and record.topic == "turns":
            self._finished.add(turn)

    def _history(self, at_rest: bool) -> History:
        cluster = self.stage.cluster
        return History(
            partitions=PARTITIONS,
            at_rest=at_rest,
            rules=NEW.orchestrator,
            writes=[Written(at, order, record) for order, (at, record) in enumerate(cluster.history)],
            calls=[
                ProviderCall(
                    turn=call.turn,
                    generation=call.generation,
                    instance=f"{call.host.name}",
                    opened_at=call.opened_at,
                    closed_at=call.closed_at,
                    sent=call.sent(),
                    finished=call.closed_at is not None and call.end is not None and call.closed_at >= call.end,
                )
                for call in self.stage.provider.calls
            ],
            shown=[
                ShownMessage(str(m.channel_id), str(m.message_id), m.text, m.nonce, m.at)
                for messages in self.stage.discord.channels.values()
                for m in messages
                if m.author_id == BOT_ID
            ],
            commits=[
                Commit(at, name, topic, partition, offset)
                for at, name, topic, partition, offset in self.stage.coordinator.commits
            ],
            ends={
                (name, partition): cluster.end(name, partition)
                for name in self.stage.topics.topics
                for partition in range(cluster.partitions(name))
            },
            owners=[Owned(*owned) for owned in self.stage.coordinator.ownership],
            frozen=self.processes.frozen,
            away=self.processes.away,
            dead=self.processes.dead_times(),
            kept=[Kept(*kept) for kept in self.stage.coordinator.kept],
            loads=self.processes.loads,
            events=self.stage.events,
        )
