"""The streams of one partition as a fold over its raw records: which record counts, and the batch that it becomes.

One batch a counted record, an empty one too, so that batches have the raw records' sequences without a gap. The first
instance that opens a stream is the one that counts (it won the claim), and the first end closes it: what stands behind
is dropped. The same records always give equal batches, since nothing but the records is read.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeVar

from schemas.inbox import ChunkBatch
from schemas.raw import RawEnd, RawOrigin, RawSlice
from services.normalizer.endings import Lost, ending_of
from services.normalizer.rules import RULES, Reading, Rules, RulesByVersion, UnknownRules

CLOSED_KEPT = 4_096
Kept = TypeVar("Kept")

StreamId = tuple[str, int]
"""(turn, generation)."""


@dataclass(slots=True)
class _Stream(Generic[Kept]):
    instance: str
    reading: Reading
    next_sequence: int = 0
    touched_s: float = 0.0
    kept: list[Kept] = field(default_factory=list[Kept])


@dataclass(frozen=True, slots=True)
class Counted(Generic[Kept]):
    """The record counts. `settled` is what may be released once the batch is written: all of an ended stream."""

    batch: ChunkBatch
    settled: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """The record changes nothing: a repetition, a loser's, or behind the end."""

    why: str


class Streams(Generic[Kept]):
    """All open streams of a partition, and the last CLOSED_KEPT that ended.

    `Kept` is whatever the caller wants back at a stream's end, one value a counted record.
    """

    def __init__(self, rules: RulesByVersion = RULES) -> None:
        self._rules = rules
        self._open: dict[StreamId, _Stream[Kept]] = {}
        self._closed: OrderedDict[StreamId, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def slice(
        self, raw: RawSlice, data: bytes, keep: Callable[[], Kept], now_s: float = 0.0
    ) -> Counted[Kept] | Dropped:
        """Take one slice; `keep` is called only where it counts. `now_s` is only used by `forget`.

        Raises UnknownRules, and changes nothing, for a stream that was stamped by newer code than this.
        """
        origin = raw.origin
        stream_id = (origin.turn, origin.generation)
        stream = self._open.get(stream_id)
        if stream is None:
            if stream_id in self._closed:
                return Dropped("behind the end")
            if raw.sequence != 0:
                return Dropped("not the first of its stream")
            reading = self._rules_of(origin)(
                origin.dialect,
                origin.model,
                http_status=raw.http_status,
                content_type=raw.content_type,
                provider=origin.provider,
                known_tools=raw.verbatim_tools,
            )
            stream = self._open[stream_id] = _Stream(origin.instance, reading)
        if origin.instance != stream.instance:
            return Dropped("of another instance")
        if raw.sequence != stream.next_sequence:
            return Dropped("a repetition" if raw.sequence < stream.next_sequence else "behind a gap")
        chunks = tuple(stream.reading.feed(data))
        stream.next_sequence += 1
        stream.kept.append(keep())
        stream.touched_s = now_s
        batch = ChunkBatch(
            turn=origin.turn,
            generation=origin.generation,
            sequence=raw.sequence,
            instance=stream.instance,
            chunks=chunks,
        )
        return Counted(batch, ())

    def abandon(self, origin: RawOrigin) -> tuple[Kept, ...]:
        """Close a stream that cannot be gone on with, and give back what was kept for it."""
        stream_id = (origin.turn, origin.generation)
        stream = self._open.pop(stream_id, None)
        self._close(stream_id)
        return () if stream is None else tuple(stream.kept)

    def forget(self, before_s: float) -> tuple[Kept, ...]:
        """Close the streams of which nothing came since, and give back what was kept for them.

        A slice that a dead holder had on its way may arrive after its stream's end was read, settled and forgotten here;
        nothing would ever end the stream that it opens, and its records would never be committed.
        """
        forgotten = [stream_id for stream_id, stream in self._open.items() if stream.touched_s < before_s]
        kept: list[Kept] = []
        for stream_id in forgotten:
            kept += self._open.pop(stream_id).kept
            self._close(stream_id)
        return tuple(kept)

    def _rules_of(self, origin: RawOrigin) -> Rules:
        if origin.rules_version > max(self._rules):
            raise UnknownRules(origin.rules_version, max(self._rules))
        return self._rules[max(origin.rules_version, min(self._rules))]

    def _close(self, stream_id: StreamId) -> None:
        self._closed[stream_id] = None
        if len(self._closed) > CLOSED_KEPT:
            self._closed.popitem(last=False)

    def end(self, raw: RawEnd, written_ms: int) -> Counted[Kept] | Dropped:
        """Take an end. One that somebody else declared has no sequence and comes behind whatever is there.

        Raises UnknownRules, and changes nothing, for a stream that was stamped by newer code than this.
        """
        origin = raw.origin
        stream_id = (origin.turn, origin.generation)
        if stream_id in self._closed:
            return Dropped("behind the end")
        stream = self._open.get(stream_id)
        if stream is None:
            if raw.sequence not in (None, 0):
                # What comes of it later must not open it anew: nothing would ever end it.
                self._close(stream_id)
                return Dropped("not the first of its stream")
            stream = _Stream[Kept](
                origin.instance, self._rules_of(origin)(origin.dialect, origin.model, provider=origin.provider)
            )
        elif raw.sequence is not None and origin.instance != stream.instance:
            return Dropped("of another instance")
        # Behind a gap (a slice that was dead-lettered) the stream still ends, or its records would stay held for ever.
        whole = raw.sequence in (None, stream.next_sequence)
        ending = ending_of(raw, datetime.fromtimestamp(written_ms / 1000, tz=UTC)) if whole else Lost()
        chunks = tuple(stream.reading.flush(ending))
        batch = ChunkBatch(
            turn=origin.turn,
            generation=origin.generation,
            sequence=stream.next_sequence,
            instance=stream.instance,
            chunks=chunks,
            end=raw.ending if whole else "lost",
            attempt=raw.attempt,
            http_status=None if raw.attempt is None else raw.http_status,
        )
        self._open.pop(stream_id, None)
        self._close(stream_id)
        return Counted(batch, tuple(stream.kept))
