"""What is known of the batches in the inbox: never more than stands there, and only of the instance that counts."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from schemas.chunks import TextChunk
from schemas.inbox import ChunkBatch
from schemas.raw import NOBODY
from services.normalizer.written import MOST_STREAMS, Written, batch_id
from services.runtime.log import LogRecord
from services.runtime.outputs import output


def batch(sequence: int, *, turn: str = "m1", instance: str = "provider-0", end: str | None = None) -> ChunkBatch:
    chunk = TextChunk(content=f"word {sequence} ")
    return ChunkBatch(turn=turn, generation=1, sequence=sequence, instance=instance, chunks=(chunk,), end=end)


def record(of: ChunkBatch, *, value: bytes | None = None, without: str = "") -> LogRecord:
    new = output(
        "inbox", of, channel="7", event_id=batch_id(of), turn=of.turn, generation=of.generation, sequence=of.sequence
    )
    headers = tuple(header for header in new.headers if header[0] != without)
    return LogRecord("inbox", 0, 0, 0, new.key, new.value if value is None else value, headers)


def read(records: Iterable[LogRecord]) -> Written:
    written = Written()
    for one in records:
        written.take(one)
    return written


def known(written: Written, instance: str = "provider-0") -> list[int]:
    return [sequence for sequence in range(12) if written.holds(batch(sequence, instance=instance))]


def test_the_batches_without_a_gap_are_known_however_often_they_stand_there() -> None:
    assert known(read(record(batch(n)) for n in (0, 1, 2, 0, 1, 2, 3))) == [0, 1, 2, 3]


def test_nothing_is_known_behind_a_gap() -> None:
    """A record whose append failed may stand behind later ones."""
    assert known(read(record(batch(n)) for n in (0, 2, 3))) == [0]
    assert known(read(record(batch(n)) for n in (1, 2, 3))) == []


def test_the_batches_of_another_instance_are_not_known() -> None:
    written = read(record(batch(n, instance="provider-1")) for n in (0, 1))
    assert known(written) == []
    assert known(written, "provider-1") == [0, 1]


def test_an_end_of_nobodys_is_no_batch_of_the_stream() -> None:
    written = read([record(batch(0, instance=NOBODY, end="lost"))])
    assert known(written) == known(written, NOBODY) == []


def test_what_cannot_be_read_is_passed_over() -> None:
    foreign = [record(batch(0), without=name) for name in ("type", "turn", "generation", "sequence", "id", "channel")]
    broken = [record(batch(0), value=b"{"), LogRecord("inbox", 0, 0, 0, None, None, (("type", b"\xff"),))]
    assert known(read([*foreign, *broken])) == []
    assert known(read([*foreign, *broken, record(batch(0)), *foreign, record(batch(1))])) == [0, 1]


def test_of_too_many_streams_the_first_are_forgotten() -> None:
    written = read(record(batch(0, turn=f"m{number}")) for number in range(MOST_STREAMS + 2))
    assert len(written) == MOST_STREAMS
    assert not written.holds(batch(0, turn="m1"))
    assert written.holds(batch(0, turn="m2"))


def test_a_stream_that_ended_is_forgotten() -> None:
    written = read([record(batch(0))])
    written.forget("m1", 1)
    written.forget("m1", 1)
    assert len(written) == 0


@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["provider-0", "provider-1"])), max_size=30))
def test_only_what_stands_in_the_inbox_is_known(places: list[tuple[int, str]]) -> None:
    written = read(record(batch(sequence, instance=instance)) for sequence, instance in places)
    first = next((instance for sequence, instance in places if sequence == 0), "provider-0")
    assert set(known(written, first)) <= {sequence for sequence, _ in places}
    assert known(written, "provider-1" if first == "provider-0" else "provider-0") == []
