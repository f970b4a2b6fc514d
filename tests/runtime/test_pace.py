"""A pace: a burst, then even distances, and no memory of those who have saved up again."""

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.pace import Pace


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 3)), max_size=60))
def test_a_channel_never_exceeds_its_burst_and_its_rate_in_any_window(
    burst: int, asks: list[tuple[str, float]]
) -> None:
    pace, now_s = Pace(burst=burst, every_s=1.0), 0.0
    times: dict[str, list[float]] = {"a": [], "b": []}
    for channel, after_s in asks:
        now_s += after_s
        if pace.wait_s(channel, now_s) == 0:
            pace.took(channel, now_s)
            times[channel].append(now_s)
    for of_channel in times.values():
        for first in range(len(of_channel)):
            for last in range(first, len(of_channel)):
                assert last - first + 1 <= burst + (of_channel[last] - of_channel[first]) + 1e-6


@given(st.integers(1, 5), st.integers(1, 40))
def test_whoever_waits_as_long_as_told_need_not_wait_any_more(burst: int, times: int) -> None:
    pace, now_s = Pace(burst=burst, every_s=0.5), 0.0
    for number in range(times):
        wait_s = pace.wait_s("a", now_s)
        assert (wait_s > 0) == (number >= burst)
        now_s += wait_s
        pace.took("a", now_s)
    assert now_s <= 0.5 * times


def test_one_channel_does_not_use_up_anothers() -> None:
    pace = Pace(burst=1, every_s=1.0)
    pace.took("a", 5.0)
    assert pace.wait_s("a", 5.25) == 0.75
    assert pace.wait_s("b", 5.25) == 0


def test_channels_that_have_saved_up_again_are_forgotten() -> None:
    pace = Pace(burst=2, every_s=1.0)
    for number in range(1_000):
        pace.took(str(number), float(number))
    assert len(pace._saved_up) <= 2
