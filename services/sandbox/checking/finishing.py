"""When each record of a consumed topic was finished: from which moment on a commit may pass it.

- inbox: a snapshot has settled it, or it changed nothing and put nothing out.
- generations: a prompt or a failure of the generation is written, or a request of the channel that a later event led to.
- prompts: its claim is closed, and the stream's end or the generation's failure is written.
- raw: its batch is written, and that of its stream's end; a record that does not count is finished at once.
- deliveries: a text's receipt is written; the rest is finished at once.
- all: a dead letter finishes its record, and a stream that was given up finishes with it.
"""

from collections.abc import Iterable
from math import inf

from schemas.channels import ChannelSnapshot
from schemas.deliveries import SendText
from schemas.generations import GenerationRequested
from schemas.identities import stream_effect
from schemas.inbox import ChunkBatch
from schemas.prompts import ProviderRequest
from schemas.raw import RawEnd, RawSlice
from services.sandbox.checking.index import Index
from services.sandbox.checking.reading import Read
from services.sandbox.checking.streams import StreamView


def finished_at(index: Index, topic: str, partition: int) -> list[tuple[Read, float]]:
    """The partition's records in offset order, each with the time at which it was finished; infinite for never."""
    reads = index.consumed.get((topic, partition), [])
    match topic:
        case "inbox":
            times = _of_inbox(index, reads)
        case "generations":
            times = [_of_generation(index, read) for read in reads]
        case "prompts":
            times = [_of_prompt(index, read) for read in reads]
        case "raw":
            times = _of_raw(index, reads)
        case _:
            times = [_of_delivery(index, read) for read in reads]
    found: list[tuple[Read, float]] = []
    for read, time in zip(reads, times, strict=True):
        letter = index.refused(read.place)
        found.append((read, time if letter is None else min(time, letter.at)))
    return found


def _first(reads: Iterable[Read]) -> float:
    return min((read.at for read in reads), default=inf)


def _of_inbox(index: Index, reads: list[Read]) -> list[float]:
    settled: dict[str, list[tuple[float, int]]] = {}
    for channel, snapshots in index.snapshots.items():
        rising: list[tuple[float, int]] = []
        for read in snapshots:
            if isinstance(read.content, ChannelSnapshot) and (not rising or read.content.settled > rising[-1][1]):
                rising.append((read.at, read.content.settled))
        settled[channel] = rising
    at: dict[str, int] = dict.fromkeys(settled, 0)
    times: list[float] = []
    for read in reads:
        if read.problem is not None or read.facts is None:
            times.append(inf)
            continue
        channel = read.facts.channel
        folding = index.foldings.get(channel)
        told = None if folding is None else folding.told.get(read.offset)
        if told is not None and not told.changed and not told.outputs:
            times.append(read.at)
            continue
        rising = settled.get(channel, [])
        while at.get(channel, 0) < len(rising) and rising[at[channel]][1] < read.offset:
            at[channel] += 1
        times.append(rising[at[channel]][0] if at.get(channel, 0) < len(rising) else inf)
    return times


def _of_generation(index: Index, read: Read) -> float:
    if not isinstance(read.content, GenerationRequested):
        return inf
    turn, number = index.turn(read.content.turn), read.content.generation
    newer = (other for other in index.requests.get(read.content.channel_id, ()) if _cause(other) > _cause(read))
    return min(_first(turn.prompts.get(number, ())), _first(turn.failures.get(number, ())), _first(newer))


def _cause(read: Read) -> int:
    """The inbox offset of the event that led to a record; -1 for a record that does not tell it."""
    return -1 if read.facts is None or read.facts.cause is None else read.facts.cause


def _of_prompt(index: Index, read: Read) -> float:
    if not isinstance(read.content, ProviderRequest):
        return inf
    turn, number = read.content.turn, read.content.generation
    claim = index.claims.get(stream_effect(turn, number))
    if claim is None or claim.closed is None:
        return inf
    stream = index.streams.get((turn, number))
    ends = [] if stream is None else [raw for raw in stream.raws if isinstance(raw.content, RawEnd)]
    return max(claim.closed.at, min(_first(ends), _first(index.turn(turn).failures.get(number, ()))))


def _of_raw(index: Index, reads: list[Read]) -> list[float]:
    times: dict[int, float] = {}
    for stream_id in {_stream_of(read) for read in reads}:
        if stream_id is not None:
            times |= _of_stream(index, index.streams[stream_id])
    return [times.get(read.offset, inf) for read in reads]


def _stream_of(read: Read) -> tuple[str, int] | None:
    content = read.content
    return (content.origin.turn, content.origin.generation) if isinstance(content, RawSlice | RawEnd) else None


def _of_stream(index: Index, stream: StreamView) -> dict[int, float]:
    written: dict[int, float] = {}
    letter = None if stream.broken is None else index.refused(stream.broken.place)
    ended = inf if letter is None else letter.at
    for read in index.turn(stream.id[0]).batches.get(stream.id[1], ()):
        if isinstance(read.content, ChunkBatch):
            written.setdefault(read.content.sequence, read.at)
            if read.content.end is not None:
                ended = min(ended, read.at)
    times = {read.offset: read.at for read in stream.dropped}
    for sequence, read in enumerate(stream.counted):
        times[read.offset] = max(written.get(sequence, inf), ended)
    return times


def _of_delivery(index: Index, read: Read) -> float:
    match read.content:
        case SendText(turn=turn, sequence=sequence):
            receipt = index.turn(turn).receipts.get(sequence)
            return inf if receipt is None else receipt.at
        case None:
            return inf
        case _:
            return read.at
