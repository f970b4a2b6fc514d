"""The actors of one process: each channel's state, the records that it has not settled, its snapshots and timers.

A record of the inbox is finished only under a snapshot that settled it. The order is fixed: the outputs of all events up
to an offset acknowledged, then the snapshot acknowledged, then the records released for the commit. Any other order loses
text when the process dies in between.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from pydantic import ValidationError

from schemas.turns import TurnFinished
from services.orchestrator.deadlines import Armed, deadlines
from services.orchestrator.fold import Event, UnknownRules, fold
from services.orchestrator.metrics import ACTORS, FOREIGN_SNAPSHOTS, SNAPSHOTS, TURNS
from services.orchestrator.outputs import Output
from services.orchestrator.rules import RULES, RulesByVersion
from services.orchestrator.state import ChannelState, UnreadableSnapshot, from_snapshot, to_snapshot
from services.orchestrator.step import Position
from services.runtime.clock import Clock
from services.runtime.errors import Unavailable
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, Log, NewRecord
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
LONGEST_TIMER_MS = 24 * 3_600_000
TIMER_AGAIN_S = 10.0


@dataclass
class Actor:
    """One channel. `settled` is the inbox offset that a snapshot covers; what stands up to it is not folded again.

    `timer` is set for the earliest deadline, `timer_ms` (ms since 1970).
    """

    state: ChannelState
    partition: int
    settled: int = -1
    folded: int = -1
    held: list[Pending] = field(default_factory=list[Pending])
    unacknowledged: "list[asyncio.Future[Appended]]" = field(default_factory=lambda: list[asyncio.Future[Appended]]())
    snapshot_task: "asyncio.Task[None] | None" = None
    snapshot_due: bool = False
    last_snapshot_s: float = 0.0
    snapshot_timer: asyncio.TimerHandle | None = None
    written: bool = False
    timer: asyncio.TimerHandle | None = None
    timer_ms: int | None = None
    gone: bool = False


class Actors:
    """All channels of the partitions that the process owns."""

    def __init__(self, read: Log, sender: Sender, clock: Clock, rules: RulesByVersion = RULES) -> None:
        self._log = read
        self._sender = sender
        self._clock = clock
        self._rules = rules
        self._partitions: dict[int, dict[str, Actor]] = {}
        self._rewrites: dict[int, asyncio.TimerHandle] = {}
        ACTORS.set_function(lambda: sum(len(actors) for actors in self._partitions.values()))

    # -- ownership -------------------------------------------------------------------------------------------------

    async def load(self, partitions: Collection[int]) -> None:
        """Make the actors of the partitions from their snapshots."""
        loop = asyncio.get_running_loop()
        snapshots = await load_snapshots(self._log, partitions)
        ends = await self._log.ends(INBOX, partitions)
        for partition in partitions:
            self._partitions[partition] = {}
        for channel, loaded in snapshots.items():
            snapshot = loaded.snapshot
            try:
                state = from_snapshot(snapshot)
            except (UnreadableSnapshot, ValidationError) as error:
                # A validation error quotes the state, so texts of users.
                detail = str(error) if isinstance(error, UnreadableSnapshot) else "does not fit the state's model"
                log.error("snapshot not usable, the channel starts anew", channel=channel, detail=detail)
                continue
            partition = self._log_partition(channel)
            actors = self._partitions.get(partition)
            if actors is None:
                continue
            settled = snapshot.settled
            if settled >= ends.get(partition, settled + 1):
                # Another log than the one that the snapshot was written for: its offsets mean nothing here.
                FOREIGN_SNAPSHOTS.inc()
                log.error(
                    "snapshot beyond the inbox's end; state kept, offset forgotten", channel=channel, settled=settled
                )
                settled = -1
            actor = Actor(state, partition, settled=settled, folded=settled)
            actor.written = loaded.overtaken
            actor.last_snapshot_s = loop.time()
            actors[channel] = actor
            self._arm(actor)
        for partition in partitions:
            self._rewrites[partition] = loop.call_later(REWRITE_AFTER_S, self._rewrite, partition)

    def _log_partition(self, channel: str) -> int:
        return partition_of(channel.encode(), self._log.partitions(SNAPSHOT_TOPIC))

    def drop(self, partitions: Collection[int]) -> None:
        """Forget the actors of the partitions."""
        for partition in partitions:
            rewrite = self._rewrites.pop(partition, None)
            if rewrite is not None:
                rewrite.cancel()
            for actor in self._partitions.pop(partition, {}).values():
                actor.gone = True
                self._disarm(actor)
                self._cancel_snapshot_timer(actor)

    # -- events ----------------------------------------------------------------------------------------------------

    def receive(self, inbound: Inbound, event: Event) -> None:
        """Fold one event of a channel and send what comes out."""
        record, channel = inbound.record, inbound.facts.channel
        actors = self._partitions.setdefault(record.partition, {})
        actor = actors.get(channel)
        if actor is None:
            actor = actors[channel] = Actor(ChannelState(channel_id=channel), record.partition)
            actor.last_snapshot_s = asyncio.get_running_loop().time()
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
        self._arm(actor)
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
        actor.last_snapshot_s = asyncio.get_running_loop().time()
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

    def _rewrite(self, partition: int) -> None:
        """Write again what was written since the assignment, so that a zombie's late snapshot is not the last one."""
        for actor in self._partitions.get(partition, {}).values():
            if actor.written:
                self._snapshot(actor)

    def _snapshot_later(self, actor: Actor) -> None:
        if actor.snapshot_timer is None and not actor.gone:
            due_s = actor.last_snapshot_s + SNAPSHOT_EVERY_S
            actor.snapshot_timer = asyncio.get_running_loop().call_at(due_s, self._snapshot, actor)

    def _cancel_snapshot_timer(self, actor: Actor) -> None:
        if actor.snapshot_timer is not None:
            actor.snapshot_timer.cancel()
            actor.snapshot_timer = None

    # -- timers ----------------------------------------------------------------------------------------------------

    def _arm(self, actor: Actor) -> None:
        due_ms = min((armed.due_ms for armed in deadlines(actor.state)), default=None)
        if due_ms == actor.timer_ms:
            return
        self._disarm(actor)
        if due_ms is not None:
            actor.timer_ms = due_ms
            wait_ms = min(max(0, due_ms - self._clock.now_ms()), LONGEST_TIMER_MS)
            self._call_later(actor, wait_ms / 1000 + 0.05)

    def _call_later(self, actor: Actor, wait_s: float) -> None:
        actor.timer = asyncio.get_running_loop().call_later(wait_s, self._fire, actor)

    def _disarm(self, actor: Actor) -> None:
        if actor.timer is not None:
            actor.timer.cancel()
            actor.timer = actor.timer_ms = None

    def _fire(self, actor: Actor) -> None:
        """Write TimerFired for what is due by our clock; again later, since the fold ignores one that came too early."""
        now_ms = self._clock.now_ms()
        for armed in deadlines(actor.state):
            if armed.due_ms <= now_ms:
                self._sender.send(_timer(actor, armed))
        self._call_later(actor, TIMER_AGAIN_S)


def _timer(actor: Actor, armed: Armed) -> NewRecord:
    return output(
        "inbox",
        armed.fired(),
        channel=actor.state.channel_id,
        event_id=f"timer:{armed.turn}:{armed.timer}:{armed.armed_by}",
        turn=armed.turn,
        generation=armed.generation,
        cause=armed.armed_by,
    )


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
