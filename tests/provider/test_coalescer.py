"""Gathering bytes into slices, with times that the test gives."""

from hypothesis import given
from hypothesis import strategies as st

from services.provider.coalescer import FULL_BYTES, MOST_STRETCH, WINDOW_S, Coalescer, Gathering, gathering

LIMITS = Gathering()


def test_bytes_after_a_quiet_gap_go_out_at_once() -> None:
    coalescer = Coalescer()
    assert coalescer.push(b"first", 10.0, LIMITS) == b"first"
    assert coalescer.push(b"later", 10.0 + WINDOW_S, LIMITS) == b"later"
    assert coalescer.due() is None


def test_bytes_that_follow_closely_wait_for_the_end_of_the_window() -> None:
    coalescer = Coalescer()
    coalescer.push(b"first", 10.0, LIMITS)
    assert coalescer.push(b"a", 10.001, LIMITS) == b""
    assert coalescer.push(b"b", 10.002, LIMITS) == b""
    assert coalescer.due() == 10.0 + WINDOW_S
    assert coalescer.take(10.0 + WINDOW_S) == b"ab"
    assert coalescer.due() is None


def test_a_full_slice_does_not_wait() -> None:
    coalescer = Coalescer()
    coalescer.push(b"first", 10.0, LIMITS)
    assert coalescer.push(b"x" * (FULL_BYTES - 1), 10.001, LIMITS) == b""
    assert len(coalescer.push(b"x", 10.001, LIMITS)) == FULL_BYTES


def test_more_is_gathered_while_many_streams_run_up_to_a_bound() -> None:
    assert gathering(1) == Gathering(WINDOW_S, FULL_BYTES)
    assert gathering(50) == Gathering(2 * WINDOW_S, 2 * FULL_BYTES)
    assert gathering(100_000) == Gathering(4 * WINDOW_S, 4 * FULL_BYTES)


@given(
    st.lists(
        st.tuples(st.sampled_from([b"", b"a", b"bc" * 3000, b"d" * 20_000]), st.floats(0, 0.05), st.integers(1, 1000))
    )
)
def test_nothing_is_lost_reordered_or_held_beyond_the_window(arrivals: list[tuple[bytes, float, int]]) -> None:
    coalescer = Coalescer()
    now = 0.0
    out = b""
    for data, pause, streams in arrivals:
        due = coalescer.due()
        if due is not None and due <= now + pause:
            out += coalescer.take(due)
        now += pause
        out += coalescer.push(data, now, gathering(streams))
        due = coalescer.due()
        assert due is None or now < due <= now + MOST_STRETCH * WINDOW_S
    assert out + coalescer.take(now) == b"".join(data for data, _, _ in arrivals)
