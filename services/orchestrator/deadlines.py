"""Deadlines in log time: which are armed, and what happens when one has passed."""

from dataclasses import dataclass
from typing import Literal, assert_never

from schemas.chunks import ProviderError
from schemas.inbox import TimerFired
from services.orchestrator.endings import fail, settle, unreachable
from services.orchestrator.notices import GENERATION_DEADLINE
from services.orchestrator.starting import ask_after_pause
from services.orchestrator.state import ChannelState
from services.orchestrator.step import Step

DELIVERY_DEADLINE = ProviderError(
    type="api_error", code="delivery_deadline", message="Discord did not take a message in time.", retryable=True
)


@dataclass(frozen=True, slots=True)
class Armed:
    """A deadline: `due_ms` is the append time of the event at inbox offset `armed_by` plus the timer's length."""

    turn: str
    timer: Literal["generation", "delivery"]
    generation: int | None
    armed_by: int
    due_ms: int

    def fired(self) -> TimerFired:
        """The event that says that its time has come."""
        return TimerFired(
            turn=self.turn,
            timer=self.timer,
            generation=self.generation,
            armed_by=self.armed_by,
            due_ms=self.due_ms,
        )


def deadlines(state: ChannelState) -> tuple[Armed, ...]:
    """All armed deadlines, at most one a generation and one an event that sent messages."""
    armed: list[Armed] = []
    turn = state.turn
    if turn is not None and turn.ending is None:
        generation = turn.generation
        armed.append(Armed(turn.id, "generation", generation.number, generation.armed_by, generation.due_ms))
    armed += [Armed(out.turn, "delivery", None, out.armed_by, out.due_ms) for out in state.outstanding]
    return tuple(dict.fromkeys(armed))


def receive_timer(step: Step, event: TimerFired) -> None:
    """Let an armed deadline take effect, if the event was appended after it; the state's due time counts."""
    key = (event.turn, event.timer, event.generation, event.armed_by)
    for armed in deadlines(step.state):
        if (armed.turn, armed.timer, armed.generation, armed.armed_by) == key and step.at.append_ms >= armed.due_ms:
            _pass(step, armed)
            return


def _pass(step: Step, armed: Armed) -> None:
    match armed.timer:
        case "generation":
            attempts = step.turn.attempts
            if attempts is not None and attempts.paused:
                ask_after_pause(step, attempts)
                return
            fail(step, GENERATION_DEADLINE, interrupt="deadline")
        case "delivery":
            if step.state.turn is not None and step.turn.id == armed.turn:
                unreachable(step, DELIVERY_DEADLINE)
            overdue = (armed.turn, armed.armed_by)
            step.change(outstanding=tuple(out for out in step.state.outstanding if (out.turn, out.armed_by) != overdue))
            settle(step)
        case _:
            assert_never(armed.timer)
