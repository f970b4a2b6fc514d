"""How turns end: drained, once the last message has a receipt, or abandoned at once.

A turn that ends by itself, with an error or by a graceful stop shows all that is decided first. A kill, a follow-up and
a channel that cannot be reached show no more.
"""

from typing import Literal

from schemas.attempts import Uncalled
from schemas.chunks import ProviderError
from schemas.stops import TurnInterrupted
from schemas.turns import Timings, TurnFinished, TurnStatus
from services.orchestrator.deliveries import (
    cancel_unsent,
    clear_button,
    send_waiting,
    set_typing,
    show,
    show_notice,
)
from services.orchestrator.notices import EMPTY, bounded, error_notice, scope_of
from services.orchestrator.presentation.present import Scope
from services.orchestrator.segments import discard, flush
from services.orchestrator.starting import start, start_next
from services.orchestrator.state import Cause, Ending, Outstanding, Turn
from services.orchestrator.step import Step

Interrupt = Literal["follow_up", "deadline", "internal"]


def complete(step: Step) -> None:
    """The stream ended as it should: show the rest, and end as completed, or as empty if there was never any text."""
    buffer, segments = flush(step.turn.buffer, step.turn_rules)
    empty = buffer.start == 0
    step.change_turn(buffer=buffer, ending=Ending(status="empty_response" if empty else "completed"))
    for segment in segments:
        show(step, segment)
    if empty:
        show_notice(step, EMPTY)
    settle(step)


def fail(
    step: Step, error: ProviderError, *, interrupt: Interrupt | None = None, whose: Uncalled | None = None
) -> None:
    """Show what came, then say what went wrong; ends as timeout or error. `interrupt` closes a stream that runs.

    `whose`: the provider that could not be asked, where nothing was asked.
    """
    kept = bounded(error)
    _drain(step, Ending(status="timeout" if error.type == "timeout" else "error", error=kept), interrupt=interrupt)
    uncalled = step.turn_rules.tells_uncalled
    scope = scope_of(step.turn.attempts)
    if uncalled and whose is not None:
        scope = Scope(whose.source, provider=whose.provider)
    show_notice(step, error_notice(error, step.turn.cause.settings.locale, scope, uncalled=uncalled))
    settle(step)


def cut_off(step: Step, error: ProviderError) -> None:
    """End a turn whose text may not grow any more: what waits is shown, what is pending is not."""
    step.change_turn(buffer=discard(step.turn.buffer))
    fail(step, error, interrupt="internal")


def stop(step: Step, *, interrupt: Interrupt | None = None) -> None:
    """End by a user's graceful stop: show what came and nothing after it. `interrupt` closes a stream that runs."""
    _drain(step, Ending(status="stopped_by_user"), interrupt=interrupt)
    settle(step)


def abandon(
    step: Step,
    status: TurnStatus,
    *,
    error: ProviderError | None = None,
    interrupt: Interrupt,
    then: Cause | None = None,
) -> None:
    """End at once: nothing more is shown, what has not begun is cancelled. `then` takes the floor before the queue."""
    if step.turn.ending is None:
        _interrupt(step, interrupt)
    step.change_turn(buffer=discard(step.turn.buffer))
    cancel_unsent(step)
    clear_button(step)
    set_typing(step, active=False)
    _finish(step, Ending(status=status, error=error), then=then)


def unreachable(step: Step, error: ProviderError) -> None:
    """End a turn whose messages do not arrive. An end that was decided otherwise than by the stream stays."""
    ending = step.turn.ending
    if ending is None or ending.status in ("completed", "empty_response"):
        ending = Ending(status="error", error=bounded(error))
    abandon(step, ending.status, error=ending.error, interrupt="internal")


def settle(step: Step) -> None:
    """Put out what can go, and finish the turn if it drains and nothing is left to wait for."""
    send_waiting(step)
    turn = step.state.turn
    if turn is None or turn.ending is None:
        return
    clear_button(step)
    if step.turn.waiting:
        return
    set_typing(step, active=False)
    if any(out.turn == turn.id for out in step.state.outstanding):
        return
    _finish(step, _undelivered(turn) or turn.ending)


def end_unstarted(step: Step, cause: Cause, status: TurnStatus) -> None:
    """End a turn that never started: refused, or stopped while it was queued or before it came."""
    step.put(
        TurnFinished(
            channel_id=step.channel_id,
            guild_id=cause.guild_id,
            turn=cause.turn,
            status=status,
            generations=0,
            messages=0,
            characters=0,
            timings=Timings(received_ms=cause.received_ms, finished_ms=step.at.append_ms),
        )
    )


def _drain(step: Step, ending: Ending, *, interrupt: Interrupt | None) -> None:
    if interrupt is not None:
        _interrupt(step, interrupt)
    buffer, segments = flush(step.turn.buffer, step.turn_rules)
    step.change_turn(buffer=buffer, ending=ending)
    for segment in segments:
        show(step, segment)


def _interrupt(step: Step, reason: Interrupt) -> None:
    step.put(TurnInterrupted(channel_id=step.channel_id, turn=step.turn.id, reason=reason))


def _undelivered(turn: Turn) -> Ending | None:
    """The ending of a turn that would count as completed although Discord took none of its messages."""
    if turn.ending is None or turn.ending.status != "completed" or turn.messages or turn.trouble is None:
        return None
    return Ending(status="error", error=turn.trouble)


def _finish(step: Step, ending: Ending, *, then: Cause | None = None) -> None:
    _keep_clear_for_button(step)
    turn = step.turn
    step.put(
        TurnFinished(
            channel_id=step.channel_id,
            guild_id=turn.cause.guild_id,
            turn=turn.id,
            status=ending.status,
            model=turn.model,
            generations=turn.asked,
            messages=turn.messages,
            characters=turn.shown_end,
            finish_reason=turn.finish_reason,
            usage=turn.usage,
            error=ending.error or turn.trouble,
            timings=Timings(
                received_ms=turn.cause.received_ms,
                started_ms=turn.started_ms,
                first_chunk_ms=turn.first_chunk_ms,
                first_shown_ms=turn.first_shown_ms,
                finished_ms=step.at.append_ms,
            ),
        )
    )
    step.change(turn=None)
    if then is None:
        start_next(step)
    else:
        start(step, then, queued=False)


def _keep_clear_for_button(step: Step) -> None:
    """A button whose message has no receipt yet is taken off when the receipt comes, with the turn's last sequence."""
    button = step.turn.button
    if button is None:
        return
    turn = step.turn.id
    clear_as = step.next_sequence()

    def kept(out: Outstanding) -> Outstanding:
        return out.but(clear_as=clear_as) if (out.turn, out.sequence) == (turn, button.sequence) else out

    step.change(outstanding=tuple(kept(out) for out in step.state.outstanding))
