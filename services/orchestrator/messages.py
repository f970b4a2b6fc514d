"""What a message does: it starts a turn, interrupts its author's own, waits in the queue, or is refused."""

from typing import assert_never

from schemas.inbox import Admitted, MessageReceived, Refused
from services.orchestrator.endings import abandon, end_unstarted
from services.orchestrator.refusals import had_room, refuse, refuse_for_queue
from services.orchestrator.starting import start
from services.orchestrator.state import QUEUE_LIMIT, RECENT_LIMIT, Cause
from services.orchestrator.step import Step
from services.orchestrator.stops import status_of_stop, stop_before


def receive_message(step: Step, message: MessageReceived) -> None:
    """Decide on a message, once: a second copy changes nothing."""
    if message.message_id in step.state.recent:
        return
    step.change(recent=(*step.state.recent, message.message_id)[-RECENT_LIMIT:])
    cause = Cause(
        message_id=message.message_id,
        guild_id=message.guild_id,
        author=message.author,
        content=message.content,
        settings=message.settings,
        rules_version=message.rules_version,
        received_ms=step.at.append_ms,
    )
    match message.admission:
        case Admitted():
            _admit(step, cause)
        case Refused(notice=notice):
            refuse(step, cause, notice)
        case _:
            assert_never(message.admission)


def _admit(step: Step, cause: Cause) -> None:
    stopped = stop_before(step, cause)
    if stopped is not None:
        end_unstarted(step, cause, status_of_stop(stopped.manner))
    elif step.state.turn is None:
        had_room(step)
        start(step, cause, queued=False)
    elif _interrupts(step, cause):
        abandon(step, "follow_up_interrupt", interrupt="follow_up", then=cause)
    elif len(step.state.queue) < min(cause.settings.queue_limit, QUEUE_LIMIT):
        had_room(step)
        step.change(queue=(*step.state.queue, cause))
    else:
        refuse_for_queue(step, cause)


def _interrupts(step: Step, cause: Cause) -> bool:
    """Whether the message takes the floor from its author's turn; one that only awaits receipts is let finish."""
    turn = step.turn
    return turn.ending is None and turn.cause.author.id == cause.author.id and cause.settings.follow_up == "interrupt"
