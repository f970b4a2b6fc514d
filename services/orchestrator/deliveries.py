"""What goes out to delivery for the current turn: messages within the channel's slots, typing, the button, cancels."""

from pydantic_core import to_json

from schemas.deliveries import NOTICE, Cancel, ClearStopButton, SendText, Typing
from services.orchestrator.segments import Segment
from services.orchestrator.state import EMITTED_BYTES, SLOTS, WAITING_BYTES, Button, Cause, Outstanding, Waiting
from services.orchestrator.step import Step


def has_room(step: Step, segment: Segment) -> bool:
    """Whether the segment may wait for a slot, or needs not wait."""
    return step.turn.waiting_bytes + _size(segment.text) <= WAITING_BYTES


def show(step: Step, segment: Segment) -> None:
    """Decide that the segment is shown: at once if a slot is free, else when one gets free."""
    emitted = step.turn.emitted + segment.source
    beyond = _size(emitted) - EMITTED_BYTES
    step.change_turn(emitted=emitted[max(beyond, 0) :])
    _wait(step, Waiting(text=segment.text, start=segment.start, end=segment.end))


def show_notice(step: Step, text: str) -> None:
    """Show a line that is no part of the reply, after all that was decided before."""
    _wait(step, Waiting(text=NOTICE + text))


def send_waiting(step: Step) -> None:
    """Put out what waits as far as slots are free."""
    while step.state.turn is not None and step.turn.waiting and len(step.state.outstanding) < SLOTS:
        first, *rest = step.turn.waiting
        step.change_turn(waiting=tuple(rest), waiting_bytes=step.turn.waiting_bytes - _size(first.text))
        _send(step, first)


def send_refusal(step: Step, cause: Cause, text: str) -> bool:
    """The only message of a turn that never starts; whether it was sent.

    It is left out while no slot is free, so that refusals cannot pile up.
    """
    if len(step.state.outstanding) >= SLOTS:
        return False
    step.put(
        SendText(channel_id=step.channel_id, turn=cause.turn, sequence=0, text=NOTICE + text, reply_to=cause.message_id)
    )
    _await_receipt(step, cause, sequence=0, notice=True)
    return True


def set_typing(step: Step, *, active: bool) -> None:
    """Show or hide the typing indicator; nothing if it is so already."""
    if step.turn.typing == active:
        return
    turn = step.turn.id
    step.put(Typing(channel_id=step.channel_id, turn=turn, sequence=step.next_sequence(), active=active))
    step.change_turn(typing=active)


def clear_button(step: Step) -> None:
    """Take the Stop button off, if its message is known to be there."""
    button = step.turn.button
    if button is None or button.message_id is None:
        return
    sequence = step.next_sequence()
    put_clear(step, step.turn.id, sequence=sequence, of=button.sequence, message_id=button.message_id)
    step.change_turn(button=None)


def put_clear(step: Step, turn: str, *, sequence: int, of: int, message_id: str) -> None:
    """Take the Stop button off the message that the output `of` of any turn made."""
    step.put(ClearStopButton(channel_id=step.channel_id, turn=turn, sequence=sequence, of=of, message_id=message_id))


def cancel_unsent(step: Step) -> None:
    """Drop what waits, and cancel those of the turn's messages that have no receipt."""
    step.change_turn(waiting=(), waiting_bytes=0)
    mine = [out.sequence for out in step.state.outstanding if out.turn == step.turn.id]
    if mine:
        turn = step.turn.id
        step.put(Cancel(channel_id=step.channel_id, turn=turn, sequence=step.next_sequence(), first=min(mine)))


def _wait(step: Step, waiting: Waiting) -> None:
    step.change_turn(waiting=(*step.turn.waiting, waiting), waiting_bytes=step.turn.waiting_bytes + _size(waiting.text))
    send_waiting(step)


def _send(step: Step, waiting: Waiting) -> None:
    turn = step.turn
    first = turn.sends == 0
    streaming = turn.ending is None and not step.stream_over
    sequence = step.next_sequence()
    step.put(
        SendText(
            channel_id=step.channel_id,
            turn=turn.id,
            sequence=sequence,
            text=waiting.text,
            start=waiting.start,
            end=waiting.end,
            reply_to=turn.cause.message_id if first and (turn.queued or turn.cause.guild_id is not None) else None,
            stop_button=first and streaming,
        )
    )
    step.change_turn(
        sends=turn.sends + 1,
        shown_end=turn.shown_end if waiting.end is None else waiting.end,
        button=Button(sequence=sequence) if first and streaming else turn.button,
    )
    _await_receipt(step, turn.cause, sequence=sequence, notice=waiting.start is None)


def _await_receipt(step: Step, cause: Cause, *, sequence: int, notice: bool) -> None:
    outstanding = Outstanding(
        turn=cause.turn,
        sequence=sequence,
        notice=notice,
        armed_by=step.at.offset,
        due_ms=step.at.append_ms + cause.settings.delivery_deadline_ms,
    )
    step.change(outstanding=(*step.state.outstanding, outstanding))


def _size(text: str) -> int:
    return len(to_json(text))
