"""What a stop does: it ends exactly the turns that its target selects, also those whose message comes after it."""

from typing import Literal, assert_never

from schemas.stops import StopRequested, selects
from schemas.turns import TurnStatus
from services.orchestrator.endings import abandon, end_unstarted, stop
from services.orchestrator.state import STOPS_KEPT_MS, STOPS_LIMIT, Cause, Stop
from services.orchestrator.step import Step

Manner = Literal["graceful", "kill"]


def receive_stop(step: Step, request: StopRequested) -> None:
    """Remember the stop and end what it selects: queued turns first, so that none of them starts in between."""
    if any(known.stop_id == request.stop_id for known in step.state.stops):
        return
    heard = Stop(stop_id=request.stop_id, target=request.target, manner=request.manner, at_ms=step.at.append_ms)
    kept = tuple(known for known in step.state.stops if not _is_over(step, known))
    step.change(stops=(*kept, heard)[-STOPS_LIMIT:])
    hit = tuple(cause for cause in step.state.queue if _hits(heard, cause))
    step.change(queue=tuple(cause for cause in step.state.queue if not _hits(heard, cause)))
    for cause in hit:
        end_unstarted(step, cause, status_of_stop(heard.manner))
    if step.state.turn is not None and _hits(heard, step.turn.cause):
        _end_current(step, heard.manner)


def stop_before(step: Step, cause: Cause) -> Stop | None:
    """The first remembered stop that selects a message which comes only now."""
    for known in step.state.stops:
        if not _is_over(step, known) and _hits(known, cause):
            return known
    return None


def status_of_stop(manner: Manner) -> TurnStatus:
    """The status of a turn that a stop ended."""
    return "killed" if manner == "kill" else "stopped_by_user"


def _end_current(step: Step, manner: Manner) -> None:
    # The stop may stand in the inbox alone, so the stream's holder is told as well.
    match manner:
        case "graceful":
            if step.turn.ending is None:
                stop(step, interrupt="internal")
        case "kill":
            abandon(step, "killed", interrupt="internal")
        case _:
            assert_never(manner)


def _hits(known: Stop, cause: Cause) -> bool:
    return selects(known.target, turn=cause.turn, caused_by=cause.message_id)


def _is_over(step: Step, known: Stop) -> bool:
    return step.at.append_ms - known.at_ms > STOPS_KEPT_MS
