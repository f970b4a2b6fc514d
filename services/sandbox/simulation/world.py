"""One world a seed: the processes, the users, the faults, and the history that comes out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from schemas.topics import Topics, load_topics
from services.gateway.stops import kill_channel, stop_turn
from services.orchestrator.rules import RULES, Rules, RulesByVersion
from services.runtime.assembly import Assembly
from services.runtime.health import Health
from services.runtime.log import LogRecord
from services.runtime.settings import Settings
from services.sandbox.checking.history import (
    Commit,
    History,
    Kept,
    Owned,
    ProviderCall,
    ShownMessage,
    SnapshotLoaded,
    Written,
)
from services.sandbox.simulation.client import SimulatedLog
from services.sandbox.simulation.cluster import EPOCH_MS, Cluster
from services.sandbox.simulation.coordinator import Coordinator
from services.sandbox.simulation.discord import BOT_ID, Message, SimulatedDiscord, seen
from services.sandbox.simulation.faults import ACTIVE_S, FaultName, Plan, Planned, draw_plan
from services.sandbox.simulation.hosts import Host
from services.sandbox.simulation.loop import VirtualLoop
from services.sandbox.simulation.provider import SimulatedProvider
from services.sandbox.simulation.workers import GatewaySession, spec_of

PARTITIONS = 2
CHANNELS = (101, 102, 103)
USERS = (11, 12)
REST_WITHIN_S = 2_400.0
SETTLE_S = 8.0
STAMP_AFTER_S = 1.0
OLD_RULES: RulesByVersion = RULES
NEW_RULES: RulesByVersion = {**RULES, max(RULES) + 1: Rules(segment_limit=400, line_group=60)}
"""What the code before and after a deployment carries; the new rules cut text elsewhere."""

SPEC_SETTINGS = {
    "broker": "kafka",
    "discord_token": "simulated",
    "provider_url": "http://127.0.0.1:9",
    "model": "simulated",
    "exclusive_instance": True,
    "grace_s": 20.0,
}


@dataclass(slots=True)
class _HostClock:
    """A host's wall clock."""

    loop: VirtualLoop
    host: Host

    def now_ms(self) -> int:
        return EPOCH_MS + int(self.loop.time() * 1000) + self.host.skew_ms


@dataclass(slots=True)
class _Slot:
    """A place for one process at a time."""

    name: str
    kind: str
    life: int = 0
    new_code: bool = False
    host: Host | None = None
    log: SimulatedLog | None = None
    stopping: asyncio.Event | None = None


@dataclass
class World:
    """The world of one seed. `run` returns its history."""

    seed: int
    allowed: frozenset[FaultName]
    loop: VirtualLoop = field(default_factory=VirtualLoop)

    def __post_init__(self) -> None:
        self.dice = Random(f"world {self.seed}")
        self.plan: Plan = draw_plan(Random(f"plan {self.seed}"), self.allowed)
        self.topics: Topics = load_topics()
        self.cluster = Cluster(self.loop, self.topics, PARTITIONS, self.dice)
        self.coordinator = Coordinator(self.cluster)
        self.discord = SimulatedDiscord(self.cluster, self.plan.lost_answers)
        self.provider = SimulatedProvider(self.cluster, self.plan.provider_trouble)
        self.slots = {name: _Slot(name, name.rsplit("-", 1)[0]) for name in self.plan.slots()}
        self.sessions: dict[Host, GatewaySession] = {}
        self.events: list[tuple[float, str]] = []
        self.frozen: list[tuple[str, float, float]] = []
        self.away: list[tuple[float, float]] = []
        self.dead: list[tuple[str, float, float]] = []
        self._died_at: dict[str, float] = {}
        self.loads: list[SnapshotLoaded] = []
        self._started: set[str] = set()
        self._finished: set[str] = set()
        self._healed = False
        self.raised = False
        self._hosts: list[Host] = []
        self.cluster.watchers.append(self._watch)

    # -- the run ---------------------------------------------------------------------------------------------------

    def run(self) -> History:
        """Run until nothing goes on any more, or until it is clear that something hangs."""
        asyncio.set_event_loop(None)
        at_rest = self.loop.run_until_complete(self._run())
        return self._history(at_rest)

    async def _run(self) -> bool:
        for slot in self.slots.values():
            self._boot(slot)
        for planned in self.plan.faults:
            self._at(planned.at, lambda planned=planned: self._strike(planned))
        self._plan_deployment()
        self._plan_users()
        self._at(ACTIVE_S / 2, lambda: self.cluster.compact("channels"))
        await asyncio.sleep(ACTIVE_S)
        self._healed = True
        for slot in self.slots.values():
            if slot.host is None:
                self._boot(slot)
        quiet_since: float | None = None
        while self.loop.time() < REST_WITHIN_S:
            await asyncio.sleep(1.0)
            if self._quiet():
                quiet_since = self.loop.time() if quiet_since is None else quiet_since
                if self.loop.time() - quiet_since >= SETTLE_S:
                    return True
            else:
                quiet_since = None
        return False

    def _quiet(self) -> bool:
        up = all(slot.host is not None and not slot.host.frozen for slot in self.slots.values())
        away = self.discord.is_away() or self.cluster.back_in() > 0
        return up and not away and self._started <= self._finished and self._drained()

    def _drained(self) -> bool:
        for group in self.coordinator.groups().values():
            for partition in range(self.cluster.partitions(group.topic)):
                end = self.cluster.end(group.topic, partition)
                if group.committed.get(partition, 0) < end:
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

    def _at(self, seconds: float, call: Callable[[], object]) -> None:
        self.loop.call_later(max(0.0, seconds - self.loop.time()), call)

    def _note(self, what: str) -> None:
        self.events.append((self.loop.time(), what))

    # -- processes -------------------------------------------------------------------------------------------------

    def _boot(self, slot: _Slot) -> None:
        slot.life += 1
        died_at = self._died_at.pop(slot.name, None)
        if died_at is not None:
            self.dead.append((slot.name, died_at, self.loop.time()))
        host = slot.host = Host(slot.name, slot.life, skew_ms=self.plan.skew_ms[slot.name])
        slot.stopping = asyncio.Event()
        slot.log = SimulatedLog(
            self.cluster, self.coordinator, host, slot.name, lambda: self.dice.random() < self.plan.lost_acks
        )
        assembly = Assembly(
            spec_of(
                slot.kind,
                host,
                self.discord,
                self.provider,
                self._connected,
                NEW_RULES if slot.new_code else OLD_RULES,
                lambda: max(NEW_RULES) if self.raised else max(OLD_RULES),
                self._loaded,
            ),
            settings=Settings(instance=slot.name, **SPEC_SETTINGS),  # pyright: ignore[reportArgumentType]
            topics=self.topics,
            cluster=slot.log,
            clock=_HostClock(self.loop, host),
            health=Health(),
            instance=slot.name,
            incarnation=f"{slot.name}:{slot.life}",
        )
        host.run(lambda: self.loop.create_task(self._live(slot, host, assembly, slot.stopping)))
        # A dead host's tasks are never run again; it keeps them, so that nobody collects and so finishes them.
        self._hosts.append(host)
        self._note(f"{slot.name} starts (life {slot.life})")

    async def _live(self, slot: _Slot, host: Host, assembly: Assembly, stopping: asyncio.Event | None) -> None:
        await asyncio.sleep(self.dice.uniform(0.05, 0.5))
        if stopping is None:
            return
        await assembly.start()
        await assembly.until(stopping)
        await assembly.stop()
        self.cluster.later(0.0, self._ended, slot, host)

    def _ended(self, slot: _Slot, host: Host) -> None:
        if slot.host is host:
            host.dead = True
            self.sessions.pop(host, None)
            self.provider.died(host)
            slot.host = None
            self._died_at[slot.name] = self.loop.time()
            self._note(f"{slot.name} has ended")
            self._boot(slot)

    def _loaded(self, channel: str, settled: int, partition: int) -> None:
        end = self.cluster.end("inbox", partition)
        self.loads.append(SnapshotLoaded(self.loop.time(), channel, settled, end))

    def _connected(self, host: Host, session: GatewaySession) -> None:
        self.sessions[host] = session

    # -- faults ----------------------------------------------------------------------------------------------------

    def _strike(self, planned: Planned) -> None:
        slot = self.slots.get(planned.slot)
        match planned.fault:
            case "broker-away":
                self._note(f"the broker is away for {planned.seconds:g} s")
                self.cluster.go_away(planned.seconds)
                self.away.append((self.loop.time(), self.loop.time() + planned.seconds))
            case "discord-away":
                self._note(f"Discord is away for {planned.seconds:g} s")
                self.discord.go_away(planned.seconds)
            case "kill" if slot is not None and slot.host is not None:
                self._kill(slot, slot.host)
            case "sigstop" if slot is not None and slot.host is not None and not slot.host.frozen:
                self._freeze(slot.host, planned.seconds)
            case "sigterm" if slot is not None and slot.host is not None and slot.stopping is not None:
                self._note(f"{slot.name} gets SIGTERM")
                slot.host.run(slot.stopping.set)
            case "evict" if slot is not None and slot.log is not None:
                for reader in slot.log.readers:
                    if reader.member_id is not None:
                        self._note(f"{slot.name} is thrown out of its group")
                        reader.evict()
            case _:
                return

    def _kill(self, slot: _Slot, host: Host, *, again: bool = False) -> None:
        self._note(f"{slot.name} is killed")
        host.dead = True
        self.sessions.pop(host, None)
        self.provider.died(host)
        slot.host = None
        self._died_at[slot.name] = self.loop.time()
        if again or self.plan.restarts or self._healed:
            self._at(self.loop.time() + self.dice.uniform(0.2, 3.0), lambda: self._reboot(slot))

    def _reboot(self, slot: _Slot) -> None:
        if slot.host is None:
            self._boot(slot)

    def _freeze(self, host: Host, seconds: float) -> None:
        self._note(f"{host.name} is frozen for {seconds:g} s")
        host.frozen = True
        self.frozen.append((host.name, self.loop.time(), self.loop.time() + seconds))
        self._at(self.loop.time() + seconds, lambda: self._thaw(host))

    def _thaw(self, host: Host) -> None:
        if not host.dead:
            self._note(f"{host.name} goes on")
            self.loop.thaw(host)

    # -- deployments -----------------------------------------------------------------------------------------------

    def _plan_deployment(self) -> None:
        change = self.plan.change
        if change is None:
            return
        workers = [slot for slot in self.slots.values() if slot.kind != "gateway"]
        for number, slot in enumerate(workers):
            self._at(change.at + number * change.each_s, lambda slot=slot: self._deploy(slot))

    def _deploy(self, slot: _Slot) -> None:
        """Give the slot the new code; a process that is dead or frozen gets it with its next life."""
        change = self.plan.change
        slot.new_code = True
        self._note(f"{slot.name} is given new code")
        if change is not None and slot.host is not None:
            if change.by == "kill" or slot.host.frozen or slot.stopping is None:
                self._kill(slot, slot.host, again=True)
            else:
                slot.host.run(slot.stopping.set)
        if all(other.new_code for other in self.slots.values() if other.kind == "orchestrator"):
            self._at(self.loop.time() + STAMP_AFTER_S, self._raise_stamp)

    def _raise_stamp(self) -> None:
        if not self.raised:
            self.raised = True
            self._note("the stamp of new messages is raised")
            for slot in self.slots.values():
                if slot.kind == "gateway" and slot.host is not None:
                    self._kill(slot, slot.host, again=True)

    # -- users -----------------------------------------------------------------------------------------------------

    def _plan_users(self) -> None:
        dice = Random(f"users {self.seed}")
        for number in range(dice.randint(2, 7)):
            at, channel, user = dice.uniform(1.5, ACTIVE_S), dice.choice(CHANNELS), dice.choice(USERS)
            self._at(at, lambda n=number, c=channel, u=user: self._say(c, u, f"message {n}"))
            if dice.random() < 0.35:
                self._at(at + dice.uniform(0.0, 6.0), lambda c=channel, u=user: self._stop(c, u, "button"))
            if dice.random() < 0.2:
                self._at(at + dice.uniform(0.0, 6.0), lambda c=channel, u=user: self._stop(c, u, "kill"))
            if dice.random() < 0.3:
                self._at(at + dice.uniform(0.2, 6.0), lambda n=number, c=channel, u=user: self._say(c, u, f"more {n}"))

    def _say(self, channel: int, user: int, text: str) -> None:
        if self.discord.is_away():
            return
        self._note(f"user {user} says {text!r} in {channel}")
        message = self.discord.add(channel, user, text)
        self._push(lambda session, message=message: self._receive(session, message))

    def _receive(self, session: GatewaySession, message: Message) -> None:
        session.intake.receive(seen(message))

    def _stop(self, channel: int, user: int, how: str) -> None:
        if self.discord.is_away():
            return
        interaction = self.discord.snowflake()
        if how == "kill":
            stop = kill_channel(channel_id=channel, interaction_id=interaction, user_id=user)
        else:
            turn = next((m for m in reversed(self.discord.channels.get(channel, ())) if m.author_id == user), None)
            if turn is None:
                return
            stop = stop_turn(turn=f"m{turn.message_id}", channel_id=channel, interaction_id=interaction, user_id=user)
        self._note(f"user {user} stops {how} in {channel}")
        self._push(lambda session, stop=stop: session.stops.write(stop))

    def _push(self, tell: Callable[[GatewaySession], object]) -> None:
        """Send an event over the websockets that are open."""
        for host, session in list(self.sessions.items()):
            if session.connected and not host.dead:
                delay = self.dice.uniform(0.005, 0.08)
                host.run(lambda session=session, delay=delay: self.loop.call_later(delay, tell, session))

    # -- the outcome -----------------------------------------------------------------------------------------------

    def _history(self, at_rest: bool) -> History:
        cluster = self.cluster
        return History(
            partitions=PARTITIONS,
            at_rest=at_rest,
            rules=NEW_RULES,
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
                for call in self.provider.calls
            ],
            shown=[
                ShownMessage(str(m.channel_id), str(m.message_id), m.text, m.nonce, m.at)
                for messages in self.discord.channels.values()
                for m in messages
                if m.author_id == BOT_ID
            ],
            commits=[
                Commit(at, name, topic, partition, offset)
                for at, name, topic, partition, offset in self.coordinator.commits
            ],
            ends={
                (name, partition): cluster.end(name, partition)
                for name in self.topics.topics
                for partition in range(cluster.partitions(name))
            },
            owners=[Owned(*owned) for owned in self.coordinator.ownership],
            frozen=self.frozen,
            away=self.away,
            dead=self.dead + [(name, at, float("inf")) for name, at in self._died_at.items()],
            kept=[Kept(*kept) for kept in self.coordinator.kept],
            loads=self.loads,
            events=self.events,
        )
