"""How a turn and each of its generations start: the request, its deadline, the typing indicator."""

from typing import Literal

from schemas.attempts import AttemptPlan
from schemas.generations import GenerationRequested
from services.orchestrator.deliveries import set_typing
from services.orchestrator.rules import rules_of
from services.orchestrator.segments import discard
from services.orchestrator.state import Attempts, Cause, Generation, Turn
from services.orchestrator.step import Step


def start(step: Step, cause: Cause, *, queued: bool) -> None:
    """Make the turn the channel's current one and ask for its first generation."""
    turn = Turn(cause=cause, queued=queued, started_ms=step.at.append_ms, generation=_generation(step, cause, 1))
    if rules_of(step.rules, cause.rules_version).attempts is not None:
        turn = turn.but(attempts=Attempts())
    step.change(turn=turn)
    _request(step, why="first")
    set_typing(step, active=True)


def start_next(step: Step) -> None:
    """Start the turn that has waited longest, if any."""
    if step.state.queue:
        first, *rest = step.state.queue
        step.change(queue=tuple(rest))
        start(step, first, queued=True)


def continue_after_lost(step: Step) -> None:
    """Ask for another generation that goes on after the text decided so far; what was pending is written anew by it."""
    turn = step.turn
    step.change_turn(buffer=discard(turn.buffer), generation=_generation(step, turn.cause, turn.generation.number + 1))
    _request(step, why="lost")


def ask_next(step: Step, attempts: Attempts, *, lost: bool = False) -> None:
    """Go on with another attempt after the text decided so far, at once or after the pause that it asks for."""
    turn = step.turn
    number = turn.generation.number + 1
    if attempts.paused:
        due_ms = step.at.append_ms + attempts.paused_ms
        generation = Generation(number=number, armed_by=step.at.offset, due_ms=due_ms)
    else:
        generation = _generation(step, turn.cause, number)
    step.change_turn(generation=generation, attempts=attempts, model=None, finish_reason=None)
    if not attempts.paused:
        _request(step, why="lost" if lost else "first")


def ask_after_pause(step: Step, attempts: Attempts) -> None:
    """The pause before the current attempt is over: ask for it."""
    turn = step.turn
    step.change_turn(
        generation=_generation(step, turn.cause, turn.generation.number), attempts=attempts.but(paused=False)
    )
    _request(step, why="first")


def _generation(step: Step, cause: Cause, number: int) -> Generation:
    due_ms = step.at.append_ms + cause.settings.generation_deadline_ms
    return Generation(number=number, armed_by=step.at.offset, due_ms=due_ms)


def _request(step: Step, *, why: Literal["first", "lost"]) -> None:
    turn = step.turn
    step.put(
        GenerationRequested(
            channel_id=step.channel_id,
            guild_id=turn.cause.guild_id,
            turn=turn.id,
            generation=turn.generation.number,
            message_id=turn.cause.message_id,
            author=turn.cause.author,
            content=turn.cause.content,
            emitted=turn.emitted,
            why=why,
            deadline_ms=turn.cause.settings.generation_deadline_ms,
            rules_version=turn.cause.rules_version,
            attempt=_plan(turn.attempts),
        )
    )


def _plan(attempts: Attempts | None) -> AttemptPlan | None:
    if attempts is None:
        return None
    return AttemptPlan(step=attempts.step, rung=attempts.rung, paused_ms=attempts.paused_ms, earlier=attempts.earlier)
