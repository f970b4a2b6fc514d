"""The fold: one channel's events, in the inbox's order, into its state and what is to be written.

It reads no clock, rolls no dice and waits for nothing: the same events at the same positions always give the same state
and the same outputs.
"""

from dataclasses import dataclass
from typing import assert_never

from schemas.inbox import ChunkBatch, DeliveryReceipt, GenerationFailed, MessageReceived, TimerFired
from schemas.stops import StopRequested
from services.orchestrator.chunks import receive_batch, receive_failure
from services.orchestrator.deadlines import receive_timer
from services.orchestrator.messages import receive_message
from services.orchestrator.outputs import Output
from services.orchestrator.receipts import receive_receipt
from services.orchestrator.rules import RULES, RulesByVersion, rules_of
from services.orchestrator.state import ChannelState
from services.orchestrator.step import Position, Step
from services.orchestrator.stops import receive_stop

Event = MessageReceived | StopRequested | ChunkBatch | GenerationFailed | DeliveryReceipt | TimerFired
"""All that the orchestrator must know."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The state after an event, and what it puts out, in the order in which it is to be written."""

    state: ChannelState
    outputs: tuple[Output, ...]


def fold(state: ChannelState, event: Event, at: Position, rules: RulesByVersion = RULES) -> Folded:
    """What an event at a position of the inbox does to its channel.

    Raises UnknownRules for a message that was stamped by newer code than this.
    """
    if isinstance(event, MessageReceived):
        rules_of(rules, event.rules_version)
    step = Step(state, at, rules)
    match event:
        case MessageReceived():
            receive_message(step, event)
        case StopRequested():
            receive_stop(step, event)
        case ChunkBatch():
            receive_batch(step, event)
        case GenerationFailed():
            receive_failure(step, event)
        case DeliveryReceipt():
            receive_receipt(step, event)
        case TimerFired():
            receive_timer(step, event)
        case _:
            assert_never(event)
    return Folded(step.state, tuple(step.outputs))
