"""Invariants about provider calls: at most one a generation, under a claim, and one generation after the other."""

from collections.abc import Generator

from pydantic_core import to_json

from schemas.chunks import TextChunk
from schemas.claims import Claimed
from schemas.deliveries import SendText
from schemas.generations import GenerationRequested
from schemas.identities import stream_effect
from schemas.inbox import ChunkBatch
from services.orchestrator.state import EMITTED_BYTES
from services.sandbox.checking.findings import Found, found, seconds
from services.sandbox.checking.history import Violation
from services.sandbox.checking.index import Index, TurnView
from services.sandbox.checking.reading import Read


def one_claimed_call(index: Index) -> Found:
    """3. The provider sees at most one HTTP call for a generation, and its winning claim stands before it in the log.

    A second call would be paid twice and answered with another text. The winner is the first claim in the log that no
    close precedes, and the call is made by its instance.
    """
    for (turn, generation), calls in index.calls.items():
        name = f"generation {generation} of turn {turn}"
        channel = index.turn(turn).channel
        if len(calls) > 1:
            times = ", ".join(f"{call.instance} at {seconds(call.opened_at)}" for call in calls)
            yield found(3, f"{name} was called {len(calls)} times: {times}",
                        channel=channel, turn=turn, at=calls[1].opened_at)  # fmt: skip
        call = min(calls, key=lambda made: made.opened_at)
        claim = index.claims.get(stream_effect(turn, generation))
        winner = None if claim is None else claim.winner
        if winner is None or not isinstance(winner.content, Claimed):
            yield found(3, f"{name} was called by {call.instance} at {seconds(call.opened_at)} without a claim",
                        channel=channel, turn=turn, at=call.opened_at)  # fmt: skip
        elif winner.at > call.opened_at + index.history.late:
            yield found(
                3, f"{name} was called at {seconds(call.opened_at)}, before its claim at {seconds(winner.at)}", winner,
                channel=channel, turn=turn,
            )  # fmt: skip
        elif winner.content.instance != call.instance:
            yield found(3, f"{name} was claimed by {winner.content.instance} and called by {call.instance}", winner,
                        channel=channel, turn=turn, at=call.opened_at)  # fmt: skip


def next_after_logged_end(index: Index) -> Found:
    """4. Generation n + 1 exists only after a logged end of n; after `lost` it starts at the text emitted before.

    Two generations at once would write over each other, and one that starts elsewhere repeats text or leaves some out.
    The text emitted is the beginning of what the earlier generations' counted batches say; all texts that were put out
    before lie within it, no later text reaches over its end, and of more than 64 KiB its last part is given.
    """
    for turn in index.turns.values():
        text: str | None = ""
        for number in sorted(turn.requests):
            read = turn.requests[number]
            request = read.content
            if not isinstance(request, GenerationRequested):
                continue
            if number > 1:
                if not _has_end(turn, number - 1, read, lost=request.why == "lost"):
                    end = "lost end" if request.why == "lost" else "end"
                    yield found(4, f"generation {number} of turn {turn.id} is asked for without a logged {end} of "
                                   f"{number - 1} before it", read)  # fmt: skip
                    break
                if text is not None:
                    text = yield from _emitted(turn, read, request, text)
            if text is not None:
                text += _said(turn, number)


def _has_end(turn: TurnView, number: int, before: Read, *, lost: bool) -> bool:
    batches = [read for read in turn.batches.get(number, ()) if read.order < before.order]
    ends = {read.content.end for read in batches if isinstance(read.content, ChunkBatch)}
    if lost:
        return "lost" in ends
    failed = any(read.order < before.order for read in turn.failures.get(number, ()))
    return failed or bool(ends - {None})


def _said(turn: TurnView, number: int) -> str:
    """The text of a generation's batches that count: the next sequence of the first instance, up to the first end."""
    parts: list[str] = []
    expected, instance = 0, None
    for read in turn.batches.get(number, ()):
        batch = read.content
        if not isinstance(batch, ChunkBatch):
            continue
        if batch.end != "lost":
            if batch.sequence != expected or instance not in (None, batch.instance):
                continue
            instance = batch.instance
        expected += 1
        parts += [chunk.content for chunk in batch.chunks if isinstance(chunk, TextChunk)]
        if batch.end is not None:
            break
    return "".join(parts)


def _emitted(
    turn: TurnView, read: Read, request: GenerationRequested, text: str
) -> Generator[Violation, None, str | None]:
    """Check a request's `emitted` against the text so far, and return what the turn's text is now, None if unknown."""
    name = f"generation {request.generation} of turn {turn.id}"
    if len(to_json(text)) > EMITTED_BYTES:
        if request.emitted not in text:
            yield found(4, f"{name} goes on after a text that no earlier generation said", read)
        return None
    if not text.startswith(request.emitted):
        # Long runs of spaces are not shown, and then they are not told to the model either.
        if not "".join(text.split()).startswith("".join(request.emitted.split())):
            yield found(4, f"{name} goes on after a text that no earlier generation said", read)
        return None
    end = len(request.emitted)
    cause = -1 if read.facts is None or read.facts.cause is None else read.facts.cause
    last = 0
    for sent in turn.sends.values():
        send = sent.content
        if not isinstance(send, SendText) or send.start is None or send.end is None:
            continue
        before = sent.facts is not None and sent.facts.cause is not None and sent.facts.cause <= cause
        if (before and send.end > end) or send.start < end < send.end:
            yield found(4, f"{name} goes on at {end}, but text {send.sequence} shows {send.start}-{send.end}", read)
        if send.end <= end:
            last = max(last, send.end)
    result = turn.finished
    if last < end and result is not None and result.status == "completed":
        yield found(
            4, f"{name} goes on at {end}, but the turn's texts show only up to {last} of what came before", read
        )
    return request.emitted
