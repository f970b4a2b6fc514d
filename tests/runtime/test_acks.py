"""What may be committed is the contiguous prefix of finished records, whatever the order in which they finish."""

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.acks import Acks

OFFSETS = st.lists(st.integers(1, 5), min_size=1, max_size=30).map(
    lambda gaps: [sum(gaps[: index + 1]) for index in range(len(gaps))]
)


def naive(read: list[int], finished: set[int]) -> int | None:
    committable = None
    for offset in read:
        if offset not in finished:
            break
        committable = offset + 1
    return committable


@given(OFFSETS, st.data())
def test_the_committable_offset_is_that_of_a_naive_model_at_every_step(offsets: list[int], data: st.DataObject) -> None:
    acks = Acks()
    read: list[int] = []
    finished: set[int] = set()
    to_read = list(offsets)
    while to_read or finished != set(offsets):
        unfinished = sorted(set(read) - finished)
        if to_read and (not unfinished or data.draw(st.booleans())):
            read.append(to_read.pop(0))
            acks.read(read[-1])
        else:
            offset = data.draw(st.sampled_from(unfinished))
            finished.add(offset)
            acks.finished(offset)
        assert acks.committable == naive(read, finished)
        assert acks.committable is None or not any(o < acks.committable for o in set(read) - finished)
        assert acks.open == len([o for o in read if acks.committable is None or o >= acks.committable])
    assert acks.open == 0
    assert not acks._finished


def test_nothing_is_committable_before_the_first_record_has_finished() -> None:
    acks = Acks()
    acks.read(7)
    acks.read(9)
    acks.finished(9)
    assert acks.committable is None
    acks.finished(7)
    assert acks.committable == 10
