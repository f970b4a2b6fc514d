"""Which turns a stop hits: provider and orchestrator decide by this predicate alone."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.stops import ChannelTurns, OneTurn, selects

SNOWFLAKES = st.integers(0, 10**20 - 1)


def test_a_stop_that_names_its_turn_hits_that_turn_alone() -> None:
    assert selects(OneTurn(turn="m1"), turn="m1", caused_by="9")
    assert not selects(OneTurn(turn="m1"), turn="m10", caused_by="1")


@given(cause=SNOWFLAKES, stop=SNOWFLAKES)
def test_a_channel_wide_stop_hits_the_turns_whose_cause_is_older(cause: int, stop: int) -> None:
    hit = selects(ChannelTurns(before=str(stop)), turn=f"m{cause}", caused_by=str(cause))

    assert hit == (cause < stop)


def test_snowflakes_compare_as_numbers_and_not_as_text() -> None:
    assert selects(ChannelTurns(before="1000"), turn="m999", caused_by="999")
    assert not selects(ChannelTurns(before="999"), turn="m1000", caused_by="1000")
