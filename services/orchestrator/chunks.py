"""What the current generation's stream does: its text becomes segments, its end decides the turn or the next call."""

from typing import assert_never

from schemas.chunks import (
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FunctionCallChunk,
    ProcessedChunk,
    ProviderError,
    TextChunk,
)
from schemas.headers import Facts
from schemas.identities import batch_of_stream
from schemas.inbox import ChunkBatch, GenerationFailed
from services.orchestrator.deliveries import has_room, show
from services.orchestrator.endings import complete, cut_off, fail, stop
from services.orchestrator.notices import CODE_LIMIT, LOST, NO_TOOLS, REPLY_TOO_LONG
from services.orchestrator.segments import feed
from services.orchestrator.starting import continue_after_lost
from services.orchestrator.state import ChannelState
from services.orchestrator.step import Step
from services.orchestrator.trying import begin_text, commit, end_attempt, fail_attempt, hold_error, holds_empty

MODEL_LIMIT = 200
"""Code points of a model's name that are kept."""


def receive_batch(step: Step, batch: ChunkBatch) -> None:
    """Read a batch of the current generation if it is the next one of the instance whose batches count."""
    if not _is_current(step, batch.turn, batch.generation) or not _is_next(step, batch):
        return
    if batch.chunks and step.turn.first_chunk_ms is None and step.turn.attempts is None:
        step.change_turn(first_chunk_ms=step.at.append_ms)
    lost = batch.end == LOST.code
    step.stream_over = _is_over(step, batch)
    for chunk in batch.chunks:
        if not (lost and isinstance(chunk, ErrorChunk) and chunk.error.code == LOST.code):
            _read(step, chunk)
        if not _is_current(step, batch.turn, batch.generation):
            return
    if batch.end is not None:
        _end_of_stream(step, batch, batch.end)


def was_read(state: ChannelState, facts: Facts) -> bool:
    """Whether a record, as its headers tell, is a batch of the current turn that changes nothing, now or later.

    It stands before the next one of its generation, or its generation is over. An end of nobody's has another id, since
    it counts whatever its sequence.
    """
    turn = state.turn
    if turn is None or facts.type != ChunkBatch.__name__ or facts.turn != turn.id:
        return False
    if facts.generation is None or facts.sequence is None:
        return False
    current = turn.generation
    place = (facts.generation, facts.sequence)
    return place < (current.number, current.next_batch) and facts.id == batch_of_stream(turn.id, *place)


def receive_failure(step: Step, failure: GenerationFailed) -> None:
    """End the current turn whose generation could not be asked for, or whose stream cannot be read on."""
    if not _is_current(step, failure.turn, failure.generation):
        return
    attempts = step.turn.attempts
    if attempts is None:
        # Its stream may be open, and its prompt may be under way: neither is wanted any more.
        fail(step, failure.error, interrupt="internal")
    else:
        fail_attempt(step, attempts, failure)


def _is_current(step: Step, turn: str, generation: int) -> bool:
    current = step.state.turn
    return (
        current is not None
        and current.id == turn
        and current.ending is None
        and current.generation.number == generation == current.asked
    )


def _is_next(step: Step, batch: ChunkBatch) -> bool:
    """Count the batch in. A lost end was written by somebody who does not know how far the holder came: it counts."""
    generation = step.turn.generation
    if batch.end != "lost":
        if batch.sequence != generation.next_batch or generation.instance not in (None, batch.instance):
            return False
        generation = generation.but(instance=batch.instance)
    step.change_turn(generation=generation.but(next_batch=generation.next_batch + 1))
    return True


def _is_over(step: Step, batch: ChunkBatch) -> bool:
    """Whether the batch ends the turn's last stream, as far as can be told before it is read."""
    if step.turn.attempts is not None:
        return any(isinstance(chunk, DoneChunk) for chunk in batch.chunks)
    last = any(isinstance(chunk, DoneChunk | ErrorChunk) for chunk in batch.chunks)
    return batch.end != LOST.code and (batch.end is not None or last)


def _read(step: Step, chunk: ProcessedChunk) -> None:
    if chunk.usage is not None:
        step.change_turn(usage=chunk.usage)
    commit(step, chunk)
    attempts = step.turn.attempts
    match chunk:
        case TextChunk(content=content):
            _read_text(step, content)
        case FunctionCallChunk():
            fail(step, NO_TOOLS, interrupt="internal")
        case ErrorChunk(error=error) if attempts is not None:
            hold_error(step, attempts, error)
        case ErrorChunk(error=error):
            fail(step, error)
        case DoneChunk(metadata=metadata):
            _read_done(step, metadata)
        case _:
            assert_never(chunk)


def _read_text(step: Step, content: str) -> None:
    if not content:
        return
    begin_text(step)
    buffer, segments = feed(step.turn.buffer, content, step.turn_rules)
    step.change_turn(buffer=buffer)
    for segment in segments:
        if not has_room(step, segment):
            cut_off(step, REPLY_TOO_LONG)
            return
        show(step, segment)


def _read_done(step: Step, metadata: DoneMetadata) -> None:
    """A finish mark ends the turn at once: whatever the connection does after it, nothing follows, but to nothing."""
    reason = metadata.finish_reason or metadata.finish_reason_raw
    step.change_turn(
        model=step.turn.model if metadata.model is None else metadata.model[:MODEL_LIMIT],
        finish_reason=None if reason is None else reason[:CODE_LIMIT],
    )
    attempts = step.turn.attempts
    if not metadata.stopped and (attempts is None or not holds_empty(step, attempts)):
        complete(step)


def _end_of_stream(step: Step, batch: ChunkBatch, end: str) -> None:
    """The stream ended without a finish mark that ended the turn; before rules version 3 without an error of its own."""
    turn = step.turn
    if turn.attempts is not None:
        end_attempt(step, turn.attempts, batch)
    elif end == LOST.code and turn.generation.number <= turn.cause.settings.lost_retries:
        continue_after_lost(step)
    elif end == LOST.code:
        fail(step, LOST)
    elif end == "stopped":
        stop(step)
    else:
        fail(step, ProviderError(type="api_error", code=end, message="The stream ended too early.", retryable=True))
