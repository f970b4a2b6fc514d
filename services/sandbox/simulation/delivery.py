"""A world of delivery processes alone, more hostile to them than the whole one, and cheap enough for many seeds.

Orders are written straight into `deliveries`, many with the same words, some cancelled; those of a channel are written
again from some point on, as an orchestrator does that takes the channel over, some seconds or minutes later. Processes are
killed, thrown out of their group, and frozen for longer than Discord keeps a nonce; Discord goes away for as long; requests
are on their way for up to a minute, and answers get lost. Each text must stand in its channel once if its receipt says
so, else never.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from schemas.base import Record
from schemas.deliveries import Cancel, SendText
from schemas.identities import nonce, turn_of_message
from schemas.inbox import DeliveryReceipt, Outcome, Sent, TimerFired
from schemas.registry import decode
from schemas.topics import load_topics
from services.delivery.fence import Fence
from services.delivery.handler import DeliveryHandler
from services.runtime.assembly import Assembly, Context, WorkerSpec
from services.runtime.handler import Handler
from services.runtime.health import Health
from services.runtime.log import NewRecord
from services.runtime.outputs import output
from services.runtime.partitions import partition_of
from services.sandbox.simulation.client import SimulatedLog
from services.sandbox.simulation.cluster import Cluster
from services.sandbox.simulation.coordinator import Coordinator
from services.sandbox.simulation.discord import BOT_ID, SimulatedChannels, SimulatedDiscord
from services.sandbox.simulation.hosts import Host
from services.sandbox.simulation.loop import VirtualLoop
from services.sandbox.simulation.processes import SETTINGS, HostClock

PARTITIONS = 2
CHANNELS = (101, 102, 103)
SLOTS = ("delivery-0", "delivery-1")
ACTIVE_S = 60.0
AGAIN_WITHIN_S = 270.0
REST_WITHIN_S = 3_000.0
USER_ID = 11


@dataclass(slots=True)
class _Slot:
    name: str
    skew_ms: int
    life: int = 0
    host: Host | None = None
    log: SimulatedLog | None = None


class DeliveryWorld:
    """The world of one seed; `run` says what is wrong at its end, one line each."""

    def __init__(self, seed: int) -> None:
        self.orders: dict[tuple[str, int], SendText] = {}
        self.written: dict[str, list[NewRecord]] = {}
        self.events: list[tuple[float, str]] = []
        self.loop = VirtualLoop()
        self.dice = Random(f"delivery {seed}")
        self.topics = load_topics()
        self.cluster = Cluster(self.loop, self.topics, PARTITIONS, self.dice)
        self.coordinator = Coordinator(self.cluster)
        self.discord = SimulatedDiscord(self.cluster, self.dice.choice((0.0, 0.1)), self.dice.choice((0.0, 0.1)))
        self.lost_acks = self.dice.choice((0.0, 0.02))
        self.slots = [_Slot(name, self.dice.choice((0, 0, -60_000, 60_000))) for name in SLOTS]
        # A dead host's tasks are kept, so that nobody collects and so finishes them.
        self._hosts: list[Host] = []

    def run(self) -> list[str]:
        """Run until every order has a receipt, or until it is clear that one never will."""
        asyncio.set_event_loop(None)
        at_rest = self.loop.run_until_complete(self._run())
        return [*self._wrong(), *(() if at_rest else ("some order never gets a receipt",))]

    async def _run(self) -> bool:
        for slot in self.slots:
            self._boot(slot)
        for number in range(self.dice.randint(2, 6)):
            self._at(self.dice.uniform(1.0, ACTIVE_S), lambda number=number: self._begin_turn(number))
        for _ in range(self.dice.randint(1, 6)):
            self._at(self.dice.uniform(1.0, ACTIVE_S * 1.5), self._strike)
        for _ in range(self.dice.choice((0, 1, 3))):
            self._at(self.dice.uniform(1.0, ACTIVE_S) + self.dice.choice((0.0, 10.0, 200.0)), self._write_again)
        await asyncio.sleep(AGAIN_WITHIN_S)
        while self.loop.time() < REST_WITHIN_S:
            await asyncio.sleep(5.0)
            if self._all_up() and self.orders.keys() <= self._receipts().keys():
                await asyncio.sleep(120.0)  # for what is still on its way
                return True
        return False

    def _all_up(self) -> bool:
        return all(slot.host is not None and not slot.host.frozen for slot in self.slots)

    def _at(self, seconds: float, call: Callable[[], object]) -> None:
        self.loop.call_later(max(0.0, seconds - self.loop.time()), call)

    # -- processes -------------------------------------------------------------------------------------------------

    def _boot(self, slot: _Slot) -> None:
        slot.life += 1
        host = slot.host = Host(slot.name, slot.life, skew_ms=slot.skew_ms)
        slot.log = SimulatedLog(
            self.cluster, self.coordinator, host, slot.name, lambda: self.dice.random() < self.lost_acks
        )
        assembly = Assembly(
            WorkerSpec("delivery", "deliveries", self._build),
            settings=SETTINGS.model_copy(update={"instance": slot.name}),
            topics=self.topics,
            cluster=slot.log,
            clock=HostClock(self.loop, host),
            health=Health(),
            instance=slot.name,
            incarnation=f"{slot.name}:{slot.life}",
        )
        host.run(lambda: self.loop.create_task(assembly.start()))
        self._hosts.append(host)
        self.events.append((self.loop.time(), f"{slot.name} starts"))

    async def _build(self, context: Context) -> Handler:
        fence = Fence(context.heartbeat_age_s)
        return DeliveryHandler(lambda: SimulatedChannels(self.discord, fence), context.clock, context.log, fence)

    def _strike(self) -> None:
        slot = self.dice.choice(self.slots)
        fault = self.dice.choice(("kill", "freeze", "freeze", "evict", "discord", "discord", "broker"))
        self.events.append((self.loop.time(), f"{fault} {slot.name}"))
        if fault == "discord":
            self.discord.go_away(self.dice.choice((10.0, 90.0, 360.0)))
        elif fault == "broker":
            self.cluster.go_away(self.dice.choice((1.0, 10.0, 50.0)))
        elif slot.host is None or slot.log is None:
            return
        elif fault == "evict":
            for reader in slot.log.readers:
                reader.evict()
        elif fault == "freeze" and not slot.host.frozen:
            host = slot.host
            host.frozen = True
            self._at(self.loop.time() + self.dice.choice((7.0, 60.0, 200.0, 400.0)), lambda: self._thaw(host))
        elif fault == "kill":
            slot.host.dead = True
            slot.host = None
            self._at(self.loop.time() + self.dice.uniform(0.2, 10.0), lambda: self._boot(slot))

    def _thaw(self, host: Host) -> None:
        if not host.dead:
            self.events.append((self.loop.time(), f"{host.name} goes on"))
            self.loop.thaw(host)

    # -- orders ----------------------------------------------------------------------------------------------------

    def _begin_turn(self, number: int) -> None:
        channel = self.dice.choice(CHANNELS)
        turn = turn_of_message(str(self.discord.add(channel, USER_ID, f"message {number}").message_id))
        at, count = self.loop.time(), self.dice.randint(1, 6)
        for sequence in range(count):
            at += self.dice.choice((0.0, 0.2, 5.0, 40.0))
            words = self.dice.choice(("Ha!", "Ha!", f"text {number}.{sequence}"))
            order = SendText(channel_id=str(channel), turn=turn, sequence=sequence, text=words)
            self._at(at, lambda order=order: self._order(order))
        if self.dice.random() < 0.4:
            cancel = Cancel(channel_id=str(channel), turn=turn, sequence=count, first=self.dice.randrange(count))
            self._at(at + self.dice.uniform(0.0, 5.0), lambda: self._write(cancel))

    def _order(self, order: SendText) -> None:
        self.orders[order.turn, order.sequence] = order
        self._write(order)

    def _write(self, order: SendText | Cancel) -> None:
        """Write the order because of an event that stands in the inbox by now."""
        channel, turn = order.channel_id, order.turn
        fired = TimerFired(turn=turn, timer="delivery", generation=None, armed_by=0, due_ms=0)
        cause = self._append(output("inbox", fired, channel=channel, event_id=f"event {self.loop.time()}", turn=turn))
        new = output(
            "deliveries", order, channel=channel, event_id=f"{turn}/d{order.sequence}", turn=turn,
            sequence=order.sequence, cause=cause,
        )  # fmt: skip
        self.written.setdefault(channel, []).append(new)
        self._append(new)

    def _write_again(self) -> None:
        """Write what a channel's events led to again, from one of them on, as a new owner of its inbox does."""
        if self.written:
            channel = self.dice.choice(sorted(self.written))
            first = self.dice.randrange(len(self.written[channel]))
            self.events.append((self.loop.time(), f"the orders of {channel} are written again from number {first} on"))
            for new in self.written[channel][first:]:
                self._append(new)

    def _append(self, new: NewRecord) -> int:
        """The record's offset."""
        return self.cluster.append(new, partition_of(new.key, PARTITIONS), self.cluster.now_ms()).offset

    # -- what came of it -------------------------------------------------------------------------------------------

    def _receipts(self) -> dict[tuple[str, int], Outcome]:
        """The first receipt of each order."""
        found: dict[tuple[str, int], Outcome] = {}
        for _, record in self.cluster.history:
            if record.topic == "inbox":
                read: Record = decode(record.headers, record.value)[1]
                if isinstance(read, DeliveryReceipt):
                    found.setdefault((read.turn, read.sequence), read.outcome)
        return found

    def _wrong(self) -> list[str]:
        shown = [m for messages in self.discord.channels.values() for m in messages if m.author_id == BOT_ID]
        times = Counter(message.nonce for message in shown)
        ids = {str(message.message_id): message.nonce for message in shown}
        wrong: list[str] = []
        receipts = self._receipts()
        for turn, sequence in self.orders:
            name, own, receipt = f"{turn}/{sequence}", nonce(turn, sequence), receipts.get((turn, sequence))
            if times[own] > 1:
                wrong.append(f"{name} is shown {times[own]} times")
            if isinstance(receipt, Sent) and ids.get(str(receipt.message_id)) != own:
                wrong.append(f"{name} has the receipt of another output, and is shown {times[own]} times")
            if receipt is not None and not isinstance(receipt, Sent) and times[own]:
                wrong.append(f"{name} is shown, its receipt says {receipt.kind}")
        return wrong
