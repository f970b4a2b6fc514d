"""How the end of an attempt that brought no whole reply is taken: the next attempt is asked for, or the turn ends.

Only an end that stands in the log leads on, so that no two calls of a turn run at once. What a failed attempt met is not
shown while there is another one.
"""

from dataclasses import dataclass

from schemas.attempts import NO_ATTEMPT_LEFT, AttemptFacts, EarlierAttempt, Refusal
from schemas.chunks import DoneChunk, ErrorChunk, FunctionCallChunk, ProcessedChunk, ProviderError, TextChunk
from schemas.inbox import ChunkBatch, GenerationFailed
from services.orchestrator.attempts.deciding import Next, after_empty, after_error, after_lost
from services.orchestrator.attempts.rules import AttemptRules
from services.orchestrator.endings import complete, fail, stop
from services.orchestrator.notices import LOST, bounded
from services.orchestrator.segments import discard, flush
from services.orchestrator.starting import ask_next
from services.orchestrator.state import Attempts
from services.orchestrator.step import Step

_FINAL = frozenset({"expired", "too_large"})
"""Ends of our own making that another attempt would only repeat."""


@dataclass(frozen=True, slots=True)
class _Met:
    """What an attempt met at its end; `lost` only where there is no error."""

    error: ProviderError | None
    facts: AttemptFacts | None
    http_status: int | None = None
    lost: bool = False


def commit(step: Step, chunk: ProcessedChunk) -> None:
    """Note the first sign of a reply: something visible, reasoning, a tool call or usage; nothing else is one."""
    attempts = step.turn.attempts
    if attempts is None or attempts.committed or not _is_of_a_reply(chunk):
        return
    first_ms = step.at.append_ms if step.turn.first_chunk_ms is None else step.turn.first_chunk_ms
    step.change_turn(attempts=attempts.but(committed=True), first_chunk_ms=first_ms)


def begin_text(step: Step) -> None:
    """The current attempt writes anew what the one before left unfinished."""
    attempts = step.turn.attempts
    if attempts is not None and attempts.leftover:
        step.change_turn(buffer=discard(step.turn.buffer), attempts=attempts.but(leftover=False))


def hold_error(step: Step, attempts: Attempts, error: ProviderError) -> None:
    """The reply failed: what follows is decided at the end of its stream."""
    step.change_turn(attempts=attempts.but(failed=bounded(error)))


def holds_empty(step: Step, attempts: Attempts) -> bool:
    """Whether a reply that is over waits for its stream's end, to be asked for again: nothing of the turn is visible."""
    buffer, segments = flush(step.turn.buffer, step.turn_rules)
    rules = _may_go_on(step)
    if buffer.start > 0 or segments or rules is None or after_empty(attempts, rules) is None:
        return False
    step.change_turn(attempts=attempts.but(empty=True))
    return True


def end_attempt(step: Step, attempts: Attempts, batch: ChunkBatch) -> None:
    """The stream has ended, and its reply did not end the turn."""
    if batch.end == "stopped":
        stop(step)
        return
    lost = batch.end == LOST.code
    error = attempts.failed
    if error is None and not attempts.empty and not lost:
        code = batch.end or "eof"
        error = ProviderError(type="api_error", code=code, message="The stream ended too early.", retryable=True)
    if lost and batch.attempt is None and not attempts.empty:
        # Nobody knows what it used, so whatever it met says nothing about a key or a model.
        _go_on(step, attempts, _Met(error, None, lost=True), final=error or LOST)
    elif error is None:
        _go_on(step, attempts, _Met(None, batch.attempt, lost=not attempts.empty), final=LOST)
    else:
        known = _Met(error, batch.attempt, batch.http_status)
        _go_on(step, attempts, known, final=error, over=batch.end in _FINAL)


def fail_attempt(step: Step, attempts: Attempts, failure: GenerationFailed) -> None:
    """No call was made: with what it was to use there may be another, else the turn ends with what the last one met."""
    if failure.error.code == NO_ATTEMPT_LEFT:
        if attempts.earlier and attempts.earlier[-1].outcome == "empty":
            complete(step)
        else:
            fail(step, attempts.error or failure.error, interrupt="internal")
    elif failure.attempt is None:
        fail(step, failure.error, interrupt="internal", whose=failure.uncalled)
    else:
        error = bounded(failure.error)
        _go_on(step, attempts.but(committed=True), _Met(error, failure.attempt), final=error)


def _go_on(step: Step, attempts: Attempts, met: _Met, *, final: ProviderError, over: bool = False) -> None:
    """Ask for what follows, or end the turn with the error `final`; with `over` nothing follows."""
    rules = None if over else _may_go_on(step)
    following = None if rules is None else _following(step, attempts, met, rules)
    known = attempts.but(earlier=(*attempts.earlier, _earlier(step, attempts, met)))
    if following is not None:
        ask_next(step, _led_to(known, following, met.error, step.turn.generation.number + 1), lost=met.lost)
    elif attempts.empty:
        complete(step)
    else:
        step.change_turn(attempts=known)
        fail(step, final)


def _following(step: Step, attempts: Attempts, met: _Met, rules: AttemptRules) -> Next | None:
    if met.lost:
        return after_lost(attempts, step.turn.cause.settings.lost_retries)
    if met.error is None:
        return after_empty(attempts, rules)
    return after_error(attempts, met.error, met.facts, met.http_status, rules)


def _may_go_on(step: Step) -> AttemptRules | None:
    """The rules of attempts, while the turn may have another one: it has a bound of calls, and one of time."""
    rules, turn = step.turn_rules.attempts, step.turn
    late = step.at.append_ms - turn.started_ms >= turn.cause.settings.generation_deadline_ms
    return None if rules is None or late or turn.generation.number >= rules.most_generations else rules


def _earlier(step: Step, attempts: Attempts, met: _Met) -> EarlierAttempt:
    error = met.error
    return EarlierAttempt(
        generation=step.turn.generation.number,
        outcome="lost" if met.lost else "empty" if error is None else "error",
        chosen=None if met.facts is None else met.facts.chosen,
        rung=attempts.rung,
        refusal=None
        if error is None
        else Refusal(
            type=error.type, code=error.code, classifiers=error.classifiers, retry_after_s=error.retry_after_s
        ),
        ended_ms=step.at.append_ms,
    )


def _led_to(known: Attempts, following: Next, error: ProviderError | None, number: int) -> Attempts:
    same = following.step == "same"
    return Attempts(
        step=following.step,
        rung=following.rung,
        paused=following.pause_ms > 0,
        paused_ms=following.pause_ms,
        since=known.since if same else number,
        base=following.base,
        named=known.named + (1 if following.named else 0) if same else 0,
        waited=same and (known.waited or following.waited),
        earlier=known.earlier,
        error=error or known.error,
        leftover=True,
    )


def _is_of_a_reply(chunk: ProcessedChunk) -> bool:
    if chunk.thoughts or chunk.usage is not None:
        return True
    match chunk:
        case TextChunk(content=content):
            return bool(content.strip())
        case FunctionCallChunk():
            return True
        case ErrorChunk() | DoneChunk():
            return False
