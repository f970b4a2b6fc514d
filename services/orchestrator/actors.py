"""The actors of one process: each channel's state, the records that it has not settled, and its snapshots.

A record of the inbox is finished only under a snapshot that settled it. The order is fixed: the outputs of all events up
to an offset acknowledged, then the snapshot acknowledged, then the records released for the commit. Any other order loses
text when the process dies in between.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from heapq import nlargest
from itertools import islice

from schemas.channels import ChannelSnapshot
from schemas.turns import TurnFinished
from services.orchestrator.chunks import was_read
from services.orchestrator.fold import Event, fold
from services.orchestrator.metrics import ACTORS, FOREIGN_SNAPSHOTS, PACKED, SNAPSHOTS, TURNS
from services.orchestrator.outputs import Output
from services.orchestrator.residents import ACTORS_KEPT, Actor, Packed, Residents, pack
from services.orchestrator.rules import RULES, RulesByVersion, UnknownRules
from services.orchestrator.state import ChannelState, from_snapshot, to_snapshot
from services.orchestrator.step import Position
from services.orchestrator.timers import Timers
from services.runtime.clock import Clock
from services.runtime.errors import Unavailable
from services.runtime.inbound import Inbound
from services.runtime.log import Log, NewRecord
from services.runtime.logs import get_logger
from services.runtime.outputs import output
from services.runtime.partitions import partition_of
from services.runtime.sender import Sender
from services.runtime.snapshots import TOPIC as SNAPSHOT_TOPIC
from services.runtime.snapshots import load_snapshots

log = get_logger("orchestrator")
INBOX = "inbox"
SNAPSHOT_EVERY_S = 30.0
SNAPSHOT_EVERY_EVENTS = 500
REWRITE_AFTER_S = 60.0
REWRITTEN_AT_ONCE = 100
LISTED = 100
"""Channels that the log line of a load names; the highest settled offsets first."""


class Actors:
    """All channels of the partitions that the process owns."""

    def __init__(
        self,
        read: Log,
        sender: Sender,
        clock: Clock,
        rules: RulesByVersion = RULES,
        *,
        most: int = ACTORS_KEPT,
    ) -> None:
        self._log = read
        self._sender = sender
        self._clock = clock
        self._rules = rules
        self._residents = Residents(most)
        self._timers = Timers(sender, clock)
        self._rewrites: dict[int, asyncio.Task[None]] = {}
        ACTORS.set_function(self._residents.actors)
        PACKED.set_function(self._residents.packed)

    # -- ownership -------------------------------------------------------------------------------------------------

    async def load(self, partitions: Collection[int]) -> None:
        """Take the channels of the partitions over from their snapshots."""
        began_ms = self._clock.now_ms()
        found = await load_snapshots(self._log, partitions, _restored)
        ends = await self._log.ends(INBOX, partitions)
        for partition in partitions:
            self._residents.begin(partition)
        for channel, loaded in found.items():
            partition = partition_of(channel.encode(), self._log.partitions(SNAPSHOT_TOPIC))
            settled = loaded.settled
            if settled >= ends.get(partition, settled + 1):
                # Another log than the one that the snapshot was written for: its offsets mean nothing here.
                FOREIGN_SNAPSHOTS.inc()
                log.error(
                    "snapshot beyond the inbox's end; state kept, offset forgotten", channel=channel, settled=settled
                )
                settled = -1
            packed = replace(loaded.restored, settled=settled, folded=settled, written=loaded.overtaken)
            self._residents.add_packed(partition, channel, packed)
            actor = None if packed.at_rest else self._residents.find(partition, channel)
            if actor is not None:
                self._timers.arm(actor)
        self._tell_of_load(partitions, ends, began_ms)
        for partition in partitions:
            rewriting = asyncio.create_task(self._rewrite_later(partition), name=f"rewrite {partition}")
            self._rewrites[partition] = rewriting

    def _tell_of_load(self, partitions: Collection[int], ends: Mapping[int, int], began_ms: int) -> None:
        """One line a load, with as many channels as a line can bear; `services.sandbox.chaos` reads it."""
        settled = [pair for partition in partitions for pair in self._residents.settled(partition).items()]
        log.info(
            "snapshots loaded",
            partitions=sorted(partitions),
            channels=len(settled),
            began_ms=began_ms,
            ends=dict(ends),
            settled=dict(nlargest(LISTED, settled, key=lambda pair: pair[1])),
        )

    def drop(self, partitions: Collection[int]) -> None:
        """Forget the actors of the partitions."""
        for partition in partitions:
            rewriting = self._rewrites.pop(partition, None)
            if rewriting is not None:
                rewriting.cancel()
            for actor in self._residents.drop(partition):
                self._timers.disarm(actor)
                self._cancel_snapshot_timer(actor)

    # -- events ----------------------------------------------------------------------------------------------------

    def passes_over(self, inbound: Inbound) -> bool:
        """Whether a record that has just arrived is a chunk batch that its channel has read, so that it need not wait.

        The settled offset moves on with the next event that is folded.
        """
        actor = self._residents.awake(inbound.record.partition, inbound.facts.channel)
        return actor is not None and was_read(actor.state, inbound.facts)

    def receive(self, inbound: Inbound, event: Event) -> None:
        """Fold one event of a channel and send what comes out."""
        partition, channel = inbound.record.partition, inbound.facts.channel
        actor = self._residents.find(partition, channel)
        if actor is None:
            actor = Actor(ChannelState(channel_id=channel), partition)
            self._residents.add(actor)
        try:
            self._take(actor, inbound, event)
        finally:
            self._residents.rest(actor)

    def _take(self, actor: Actor, inbound: Inbound, event: Event) -> None:
        record = inbound.record
        if record.offset <= actor.folded:
            if record.offset > actor.settled:
                # Folded in this life but not settled: only a repeated call for the same record comes here.
                actor.held.append(inbound.hold())
            return
        before = actor.state
        try:
            folded = fold(before, event, Position(record.offset, record.timestamp_ms), self._rules)
        except UnknownRules as error:
            # Not poison: the code that knows the rules is being deployed.
            raise Unavailable("rules", f"{error}; deploy the orchestrator before the stamp is raised") from error
        for out in folded.outputs:
            actor.unacknowledged.append(inbound.emit(_record(out)))
            if isinstance(out.record, TurnFinished):
                TURNS.labels(out.record.status).inc()
        actor.state, actor.folded = folded.state, record.offset
        if folded.state == before and not folded.outputs and not actor.held:
            return
        actor.held.append(inbound.hold())
        self._timers.arm(actor)
        if self._wants_snapshot(actor, before):
            self._snapshot(actor)
        else:
            self._snapshot_later(actor)

    def _wants_snapshot(self, actor: Actor, before: ChannelState) -> bool:
        turn_before = None if before.turn is None else before.turn.id
        turn_now = None if actor.state.turn is None else actor.state.turn.id
        return turn_before not in (None, turn_now) or actor.state.at_rest or len(actor.held) >= SNAPSHOT_EVERY_EVENTS

    # -- snapshots -------------------------------------------------------------------------------------------------

    def _snapshot(self, actor: Actor) -> None:
        """Write a snapshot of the state as it is now; one at a time a channel."""
        self._cancel_snapshot_timer(actor)
        if actor.snapshot_task is not None:
            actor.snapshot_due = True
            return
        actor.snapshot_task = asyncio.create_task(self._write_snapshot(actor), name="snapshot")

    async def _write_snapshot(self, actor: Actor) -> None:
        state, settles = actor.state, actor.folded
        held, actor.held = actor.held, []
        outputs, actor.unacknowledged = actor.unacknowledged, []
        try:
            if outputs:
                await asyncio.gather(*outputs)
            snapshot = to_snapshot(state, settles)
            await self._sender.send(
                output(
                    SNAPSHOT_TOPIC,
                    snapshot,
                    channel=state.channel_id,
                    event_id=f"snapshot:{state.channel_id}:{settles}",
                    cause=settles,
                )
            )
        except Exception:
            # Nothing is released: the events stay unfinished, for a later snapshot or for whoever comes next.
            log.exception("snapshot failed", channel=state.channel_id)
            actor.held[:0] = held
            actor.unacknowledged[:0] = outputs
            self._snapshot_later(actor)
            return
        finally:
            actor.snapshot_task = None
        SNAPSHOTS.inc()
        actor.written = True
        actor.settled = max(actor.settled, settles)
        for pending in held:
            pending.release()
        if actor.snapshot_due and not actor.gone:
            actor.snapshot_due = False
            self._snapshot(actor)
        self._residents.rest(actor)

    async def _rewrite_later(self, partition: int) -> None:
        await asyncio.sleep(REWRITE_AFTER_S)
        await self._rewrite(partition)

    async def _rewrite(self, partition: int) -> None:
        """Write again what was written since the assignment, so that a zombie's late snapshot is not the last one."""
        names = iter(self._residents.written(partition))
        while some := list(islice(names, REWRITTEN_AT_ONCE)):
            writing: list[asyncio.Task[None]] = []
            for channel in some:
                actor = self._residents.find(partition, channel)
                if actor is None:
                    continue
                self._snapshot(actor)
                if actor.snapshot_task is not None:
                    writing.append(actor.snapshot_task)
            if writing:
                await asyncio.wait(writing)

    def _snapshot_later(self, actor: Actor) -> None:
        if actor.snapshot_timer is None and not actor.gone:
            loop = asyncio.get_running_loop()
            actor.snapshot_timer = loop.call_later(SNAPSHOT_EVERY_S, self._snapshot, actor)

    def _cancel_snapshot_timer(self, actor: Actor) -> None:
        if actor.snapshot_timer is not None:
            actor.snapshot_timer.cancel()
            actor.snapshot_timer = None


def _restored(snapshot: ChannelSnapshot) -> Packed:
    return pack(from_snapshot(snapshot), settled=snapshot.settled, folded=snapshot.settled)


def _record(out: Output) -> NewRecord:
    return output(
        out.topic,
        out.record,
        channel=out.record.channel_id,
        event_id=out.id,
        turn=out.record.turn,
        generation=out.generation,
        sequence=out.sequence,
        cause=out.cause,
    )
