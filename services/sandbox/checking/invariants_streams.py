"""Invariants about streams: which batches may stand in inbox, and that they and raw hold all that the provider sent."""

from schemas.claims import Claimed
from schemas.identities import stream_effect
from schemas.inbox import ChunkBatch
from schemas.raw import NOBODY, RawEnd, RawSlice
from services.sandbox.checking.findings import Found, found
from services.sandbox.checking.history import ProviderCall
from services.sandbox.checking.index import Index
from services.sandbox.checking.reading import Read
from services.sandbox.checking.streams import StreamView

_STAR = ord("*")


def batches_of_counted_records(index: Index) -> Found:
    """5. No chunk batch from a losing instance or from behind the first counted end.

    Batch k of a stream is made of its k-th counted raw record, which stands before it; it names that record's instance
    and carries an end exactly if that record is the counted end. The instance that counts is the one that won the claim.
    A batch of anything else would mix two replies, or let a dead stream speak again.
    """
    for turn in index.turns.values():
        for generation, reads in turn.batches.items():
            stream = index.streams.get((turn.id, generation))
            for read in reads:
                if isinstance(read.content, ChunkBatch):
                    yield from _made_of(read, read.content, stream)
    for stream in index.streams.values():
        claim = index.claims.get(stream_effect(*stream.id))
        winner = None if claim is None or claim.winner is None else claim.winner.content
        if stream.instance is not None and isinstance(winner, Claimed) and winner.instance != stream.instance:
            yield found(5, f"the stream counts for {stream.instance}, its claim was won by {winner.instance}",
                        stream.raws[0])  # fmt: skip


def _made_of(read: Read, batch: ChunkBatch, stream: StreamView | None) -> Found:
    name = f"batch {batch.sequence} of generation {batch.generation} of turn {batch.turn}"
    if stream is None or batch.sequence >= len(stream.counted):
        after = "" if stream is None or stream.end is None else f", whose counted end is {stream.end.where}"
        yield found(5, f"{name} is made of no counted record of its stream{after}", read)
        return
    if batch.instance == NOBODY and stream.end is not None and stream.end.order < read.order:
        # A stream that ended was declared lost as well, to a normalizer that had settled and forgotten it.
        return
    raw = stream.counted[batch.sequence]
    if raw.order > read.order:
        yield found(5, f"{name} stands before its raw record {raw.where}", read)
    if batch.instance != stream.batch_instance:
        yield found(5, f"{name} is of {batch.instance}, the stream of {stream.batch_instance}", read)
    end = stream.ending if raw is stream.end else None
    if batch.end != end:
        yield found(5, f"{name} says the end {batch.end}, its raw record {raw.where} says {end}", read)


def no_gaps(index: Index) -> Found:
    """19. Raw and chunk batches have no gap within the accepted prefix; accepted raw equals the provider's bytes.

    A hole in raw means that a slice was overtaken or lost, and a hole in the batches that a reader lost one. The bytes
    of the counted slices are the beginning of what the provider sent, and all of it where the stream ended by itself.
    A secret is masked byte for byte. A turn of which a record was unreadable may have holes.
    """
    for stream in index.streams.values():
        name = f"generation {stream.id[1]} of turn {stream.id[0]}"
        if stream.id[0] not in index.poisoned:
            if stream.gaps:
                yield found(19, f"{name}: this record stands behind a gap, {len(stream.counted)} counted",
                            stream.gaps[0])  # fmt: skip
            yield from _batches_in_order(index, stream, name)
        yield from _bytes(stream, index.calls.get(stream.id, []), name)


def _batches_in_order(index: Index, stream: StreamView, name: str) -> Found:
    expected = 0
    for read in index.turn(stream.id[0]).batches.get(stream.id[1], ()):
        batch = read.content
        if isinstance(batch, ChunkBatch) and batch.sequence >= expected:
            if batch.sequence > expected:
                yield found(19, f"{name}: batch {batch.sequence} comes where {expected} is next", read)
            expected = batch.sequence + 1
    missing = stream.counted[expected:]
    if missing and index.history.at_rest:
        yield found(19, f"{name}: no batch for this record at rest, batches end at {expected}", missing[0])


def _bytes(stream: StreamView, calls: list[ProviderCall], name: str) -> Found:
    slices = [read for read in stream.counted if isinstance(read.content, RawSlice)]
    if not slices:
        return
    data = b"".join(read.record.value or b"" for read in slices)
    masked = any(isinstance(read.content, RawSlice) and read.content.masked for read in slices)
    own = [call for call in calls if call.instance == stream.instance] or calls
    if not any(_begins(call.sent, data, masked=masked) for call in own):
        lengths = ", ".join(str(len(call.sent)) for call in own) or "nothing"
        yield found(
            19, f"{name}: the {len(data)} bytes in raw are not the beginning of what the provider sent ({lengths})",
            slices[-1],
        )  # fmt: skip
        return
    end = stream.end.content if stream.end is not None else None
    if not isinstance(end, RawEnd) or end.ending != "eof" or not stream.whole:
        return
    if all(len(call.sent) > len(data) for call in own):
        yield found(19, f"{name}: raw ends by itself after {len(data)} of {len(own[0].sent)} bytes", stream.end)


def _begins(sent: bytes, data: bytes, *, masked: bool) -> bool:
    if sent.startswith(data):
        return True
    return masked and len(sent) >= len(data) and all(b in (a, _STAR) for a, b in zip(sent, data, strict=False))
