"""The processes of one world: started in their slots, killed, frozen, replaced by a deployment, started again."""

import asyncio
from dataclasses import dataclass

from pydantic import SecretStr

from services.runtime.assembly import Assembly
from services.runtime.health import Health
from services.runtime.settings import Settings
from services.sandbox.checking.history import SnapshotLoaded
from services.sandbox.simulation.client import SimulatedLog
from services.sandbox.simulation.cluster import EPOCH_MS
from services.sandbox.simulation.code import NEW, OLD
from services.sandbox.simulation.faults import Planned
from services.sandbox.simulation.hosts import Host
from services.sandbox.simulation.loop import VirtualLoop
from services.sandbox.simulation.stage import Stage
from services.sandbox.simulation.workers import GatewaySession, spec_of

STAMP_AFTER_S = 1.0

SETTINGS = Settings(  # pyright: ignore[reportCallIssue]
    instance="simulated",
    broker="kafka",
    discord_token=SecretStr("simulated"),
    provider_url="http://127.0.0.1:9",
    model="simulated",
    temperature=0.5,
    openai_api_key=SecretStr("first-key"),
    anthropic_api_key=SecretStr("second-key"),
    exclusive_instance=True,
    grace_s=20.0,
)


@dataclass(slots=True)
class HostClock:
    """A host's wall clock."""

    loop: VirtualLoop
    host: Host

    def now_ms(self) -> int:
        return EPOCH_MS + int(self.loop.time() * 1000) + self.host.skew_ms


@dataclass(slots=True)
class Slot:
    """A place for one process at a time."""

    name: str
    kind: str
    life: int = 0
    new_code: bool = False
    host: Host | None = None
    log: SimulatedLog | None = None
    stopping: asyncio.Event | None = None


class Processes:
    """All slots of a world. `healed`: from now on whatever is killed comes back; `raised`: new turns get the new rules."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.slots = {name: Slot(name, name.rsplit("-", 1)[0]) for name in stage.plan.slots()}
        self.frozen: list[tuple[str, float, float]] = []
        self.away: list[tuple[float, float]] = []
        self.dead: list[tuple[str, float, float]] = []
        self.loads: list[SnapshotLoaded] = []
        self.healed = False
        self.raised = False
        self._died_at: dict[str, float] = {}
        self._hosts: list[Host] = []

    def start(self) -> None:
        """Start every process, and plan what befalls them."""
        for slot in self.slots.values():
            self._boot(slot)
        for planned in self._stage.plan.faults:
            self._stage.at(planned.at, lambda planned=planned: self._strike(planned))
        self._plan_deployment()

    def heal(self) -> None:
        """Start what was left dead."""
        self.healed = True
        for slot in self.slots.values():
            if slot.host is None:
                self._boot(slot)

    def all_up(self) -> bool:
        """Whether every slot has a process that runs."""
        return all(slot.host is not None and not slot.host.frozen for slot in self.slots.values())

    def dead_times(self) -> list[tuple[str, float, float]]:
        """(slot, from, to) of the times without a process."""
        return self.dead + [(name, at, float("inf")) for name, at in self._died_at.items()]

    def _boot(self, slot: Slot) -> None:
        slot.life += 1
        died_at = self._died_at.pop(slot.name, None)
        if died_at is not None:
            self.dead.append((slot.name, died_at, self._stage.loop.time()))
        host = slot.host = Host(slot.name, slot.life, skew_ms=self._stage.plan.skew_ms[slot.name])
        slot.stopping = asyncio.Event()
        slot.log = SimulatedLog(
            self._stage.cluster,
            self._stage.coordinator,
            host,
            slot.name,
            lambda: self._stage.dice.random() < self._stage.plan.lost_acks,
        )
        assembly = Assembly(
            spec_of(
                slot.kind,
                host,
                self._stage.discord,
                self._stage.provider,
                self._connected,
                NEW if slot.new_code else OLD,
                lambda: NEW.stamp if self.raised else OLD.stamp,
                self._loaded,
            ),
            settings=SETTINGS.model_copy(update={"instance": slot.name}),
            topics=self._stage.topics,
            cluster=slot.log,
            clock=HostClock(self._stage.loop, host),
            health=Health(),
            instance=slot.name,
            incarnation=f"{slot.name}:{slot.life}",
        )
        host.run(lambda: self._stage.loop.create_task(self._live(slot, host, assembly, slot.stopping)))
        # A dead host's tasks are never run again; it keeps them, so that nobody collects and so finishes them.
        self._hosts.append(host)
        self._stage.note(f"{slot.name} starts (life {slot.life})")

    async def _live(self, slot: Slot, host: Host, assembly: Assembly, stopping: asyncio.Event | None) -> None:
        await asyncio.sleep(self._stage.dice.uniform(0.05, 0.5))
        if stopping is None:
            return
        await assembly.start()
        await assembly.until(stopping)
        await assembly.stop()
        self._stage.cluster.later(0.0, self._ended, slot, host)

    def _ended(self, slot: Slot, host: Host) -> None:
        if slot.host is host:
            host.dead = True
            self._stage.sessions.pop(host, None)
            self._stage.provider.died(host)
            slot.host = None
            self._died_at[slot.name] = self._stage.loop.time()
            self._stage.note(f"{slot.name} has ended")
            self._boot(slot)

    def _loaded(self, channel: str, settled: int, partition: int) -> None:
        end = self._stage.cluster.end("inbox", partition)
        self.loads.append(SnapshotLoaded(self._stage.loop.time(), channel, settled, end))

    def _connected(self, host: Host, session: GatewaySession) -> None:
        self._stage.sessions[host] = session

    # -- faults ----------------------------------------------------------------------------------------------------

    def _strike(self, planned: Planned) -> None:
        slot = self.slots.get(planned.slot)
        match planned.fault:
            case "broker-away":
                self._stage.note(f"the broker is away for {planned.seconds:g} s")
                self._stage.cluster.go_away(planned.seconds)
                self.away.append((self._stage.loop.time(), self._stage.loop.time() + planned.seconds))
            case "discord-away":
                self._stage.note(f"Discord is away for {planned.seconds:g} s")
                self._stage.discord.go_away(planned.seconds)
            case "kill" if slot is not None and slot.host is not None:
                self._kill(slot, slot.host)
            case "sigstop" if slot is not None and slot.host is not None and not slot.host.frozen:
                self._freeze(slot.host, planned.seconds)
            case "sigterm" if slot is not None and slot.host is not None and slot.stopping is not None:
                self._stage.note(f"{slot.name} gets SIGTERM")
                slot.host.run(slot.stopping.set)
            case "evict" if slot is not None and slot.log is not None:
                for reader in slot.log.readers:
                    if reader.member_id is not None:
                        self._stage.note(f"{slot.name} is thrown out of its group")
                        reader.evict()
            case _:
                return

    def _kill(self, slot: Slot, host: Host, *, again: bool = False) -> None:
        self._stage.note(f"{slot.name} is killed")
        host.dead = True
        self._stage.sessions.pop(host, None)
        self._stage.provider.died(host)
        slot.host = None
        self._died_at[slot.name] = self._stage.loop.time()
        if again or self._stage.plan.restarts or self.healed:
            self._stage.at(self._stage.loop.time() + self._stage.dice.uniform(0.2, 3.0), lambda: self._reboot(slot))

    def _reboot(self, slot: Slot) -> None:
        if slot.host is None:
            self._boot(slot)

    def _freeze(self, host: Host, seconds: float) -> None:
        self._stage.note(f"{host.name} is frozen for {seconds:g} s")
        host.frozen = True
        self.frozen.append((host.name, self._stage.loop.time(), self._stage.loop.time() + seconds))
        self._stage.at(self._stage.loop.time() + seconds, lambda: self._thaw(host))

    def _thaw(self, host: Host) -> None:
        if not host.dead:
            self._stage.note(f"{host.name} goes on")
            self._stage.loop.thaw(host)

    # -- deployments -----------------------------------------------------------------------------------------------

    def _plan_deployment(self) -> None:
        change = self._stage.plan.change
        if change is None:
            return
        workers = [slot for slot in self.slots.values() if slot.kind != "gateway"]
        for number, slot in enumerate(workers):
            self._stage.at(change.at + number * change.each_s, lambda slot=slot: self._deploy(slot))

    def _deploy(self, slot: Slot) -> None:
        """Give the slot the new code; a process that is dead or frozen gets it with its next life."""
        change = self._stage.plan.change
        slot.new_code = True
        self._stage.note(f"{slot.name} is given new code")
        if change is not None and slot.host is not None:
            if change.by == "kill" or slot.host.frozen or slot.stopping is None:
                self._kill(slot, slot.host, again=True)
            else:
                slot.host.run(slot.stopping.set)
        if all(other.new_code for other in self.slots.values() if other.kind in ("orchestrator", "normalizer")):
            self._stage.at(self._stage.loop.time() + STAMP_AFTER_S, self._raise_stamp)

    def _raise_stamp(self) -> None:
        if not self.raised:
            self.raised = True
            self._stage.note("the stamp of new messages is raised")
            for slot in self.slots.values():
                if slot.kind == "gateway" and slot.host is not None:
                    self._kill(slot, slot.host, again=True)
