"""A channel's inbox folded again from its beginning, with what each event changed and put out."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from schemas.inbox import ChunkBatch, DeliveryReceipt, GenerationFailed, MessageReceived, TimerFired
from schemas.stops import StopRequested
from services.orchestrator.fold import Event, fold
from services.orchestrator.outputs import Output
from services.orchestrator.rules import RULES, RulesByVersion
from services.orchestrator.state import ChannelState
from services.orchestrator.step import Position
from services.sandbox.checking.reading import Read

EVENTS = (MessageReceived, StopRequested, ChunkBatch, GenerationFailed, DeliveryReceipt, TimerFired)


@dataclass(frozen=True, slots=True)
class Told:
    """What one event did. `stale`: it belongs to a generation that was not the current one. `before`: of stops only."""

    read: Read
    event: Event
    stale: bool
    changed: bool
    outputs: tuple[Output, ...]
    before: ChannelState | None = None


@dataclass(slots=True)
class Folding:
    """One channel. `states` holds the state after each inbox offset that was asked for, `state` the last one."""

    channel: str
    state: ChannelState
    told: dict[int, Told] = field(default_factory=dict[int, Told])
    states: dict[int, ChannelState] = field(default_factory=dict[int, ChannelState])
    failed: list[tuple[Read, str]] = field(default_factory=list[tuple[Read, str]])

    def outputs(self) -> Iterable[Output]:
        """All that the fold puts out, in order."""
        return (out for told in self.told.values() for out in told.outputs)


def fold_again(channel: str, events: Iterable[Read], wanted: Collection[int], rules: RulesByVersion = RULES) -> Folding:
    """Fold a channel's readable events, given in offset order. `wanted`: the offsets after which the state is kept."""
    folding = Folding(channel, ChannelState(channel_id=channel))
    left = sorted(set(wanted), reverse=True)
    for read in events:
        while left and left[-1] < read.offset:
            folding.states[left.pop()] = folding.state
        if isinstance(read.content, EVENTS):
            _step(folding, read, read.content, rules)
    for offset in left:
        folding.states[offset] = folding.state
    return folding


def _step(folding: Folding, read: Read, event: Event, rules: RulesByVersion) -> None:
    before = folding.state
    try:
        folded = fold(before, event, Position(read.offset, read.record.timestamp_ms), rules)
    except Exception as error:
        # The worker would put such an event into the dead letters and go on without it.
        folding.failed.append((read, f"{type(error).__name__}: {error}"))
        return
    folding.state = folded.state
    folding.told[read.offset] = Told(
        read=read,
        event=event,
        stale=isinstance(event, ChunkBatch | GenerationFailed) and not _is_current(before, event),
        changed=folded.state is not before and folded.state != before,
        outputs=folded.outputs,
        before=before if isinstance(event, StopRequested) else None,
    )


def _is_current(state: ChannelState, event: ChunkBatch | GenerationFailed) -> bool:
    turn = state.turn
    return (
        turn is not None and turn.ending is None and (turn.id, turn.generation.number) == (event.turn, event.generation)
    )
