"""What a receipt does: it frees its slot, and tells whether the turn's messages arrive."""

from typing import assert_never

from schemas.chunks import ProviderError
from schemas.inbox import DeliveryReceipt, Failed, Sent, Skipped
from services.orchestrator.deliveries import put_clear
from services.orchestrator.endings import settle, unreachable
from services.orchestrator.notices import bounded
from services.orchestrator.state import Outstanding
from services.orchestrator.step import Step

UNREACHABLE_CODES = frozenset({"10003", "50001", "50013", "403", "404"})
"""Unknown channel, missing access, missing permissions, and the HTTP statuses that say so: no send can succeed.

https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
"""


def receive_receipt(step: Step, receipt: DeliveryReceipt) -> None:
    """Take in a receipt that is awaited; any other changes nothing."""
    found = next(
        (out for out in step.state.outstanding if (out.turn, out.sequence) == (receipt.turn, receipt.sequence)), None
    )
    if found is None:
        return
    step.change(outstanding=tuple(out for out in step.state.outstanding if out is not found))
    if step.state.turn is not None and step.turn.id == receipt.turn:
        _receive_current(step, found, receipt)
    else:
        _receive_late(step, found, receipt)
    settle(step)


def _receive_late(step: Step, found: Outstanding, receipt: DeliveryReceipt) -> None:
    match receipt.outcome:
        case Sent(message_id=message_id):
            if found.clear_as is not None and message_id is not None:
                put_clear(step, found.turn, sequence=found.clear_as, of=found.sequence, message_id=message_id)
        case Failed() | Skipped():
            pass
        case _:
            assert_never(receipt.outcome)


def _receive_current(step: Step, found: Outstanding, receipt: DeliveryReceipt) -> None:
    match receipt.outcome:
        case Sent(message_id=message_id):
            _arrived(step, found, message_id)
        case Failed(code=code, reason=reason):
            error = _delivery_error(f"delivery_failed_{code}", reason)
            if code in UNREACHABLE_CODES:
                unreachable(step, error)
            else:
                _missing(step, found, error)
        case Skipped(reason=reason):
            _missing(step, found, _delivery_error("delivery_skipped", reason))
        case _:
            assert_never(receipt.outcome)


def _arrived(step: Step, found: Outstanding, message_id: str | None) -> None:
    turn = step.turn
    button = turn.button
    if button is not None and button.sequence == found.sequence:
        button = None if message_id is None else button.but(message_id=message_id)
    step.change_turn(
        button=button,
        messages=turn.messages + (0 if found.notice else 1),
        first_shown_ms=step.at.append_ms if turn.first_shown_ms is None else turn.first_shown_ms,
    )


def _missing(step: Step, found: Outstanding, error: ProviderError) -> None:
    button = step.turn.button
    if button is not None and button.sequence == found.sequence:
        button = None
    step.change_turn(button=button, trouble=error)


def _delivery_error(code: str, reason: str) -> ProviderError:
    return bounded(ProviderError(type="api_error", code=code, message=reason, retryable=False))
