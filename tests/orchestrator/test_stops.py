"""What stops end, and what they leave alone."""

from services.orchestrator.state import STOPS_KEPT_MS, STOPS_LIMIT


def test_a_graceful_stop_shows_what_is_buffered_and_starts_the_next_turn(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.text("One.\n\nHalf a sen")
    channel.receipt("m1", 1)
    channel.stop(9, turn="m1")
    assert channel.texts() == ["One.", "Half a sen"]
    assert [clear.of for clear in channel.cleared()] == [1]
    assert channel.typing("m1") == [True, False]
    channel.receive_all()
    assert channel.finished() == ["m1 stopped_by_user"]
    assert channel.state.turn.id == "m2"


def test_a_stop_before_the_first_chunk_sends_nothing(channel) -> None:
    channel.message(1)
    channel.stop(9, turn="m1")
    assert channel.sent() == []
    assert channel.finished() == ["m1 stopped_by_user"]


def test_a_stop_in_the_inbox_alone_still_closes_the_stream(channel) -> None:
    channel.message(1)
    channel.stop(9, turn="m1")
    assert channel.interrupts() == ["m1 internal"]


def test_a_kill_drops_the_buffer_cancels_what_is_unsent_and_clears_the_older_queue(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.message(12, author="3")
    channel.text("One.\n\nTwo.\n\nHalf")
    channel.receipt("m1", 1)
    channel.stop(9, manner="kill")
    assert channel.texts() == ["One.", "Two."]
    assert [(cancel.turn, cancel.first) for cancel in channel.cancels()] == [("m1", 2)]
    assert channel.finished() == ["m2 killed", "m1 killed"]
    assert channel.state.turn.id == "m12"


def test_a_graceful_stop_changes_nothing_once_all_text_is_decided(channel) -> None:
    channel.message(1)
    channel.text("All.")
    channel.done()
    assert channel.stop(9, turn="m1") == []
    channel.receive_all()
    assert channel.finished() == ["m1 completed"]


def test_a_kill_cancels_a_reply_that_awaits_its_receipts(channel) -> None:
    channel.message(1)
    channel.text("All.")
    channel.done()
    channel.stop(9, manner="kill")
    assert len(channel.cancels()) == 1
    assert channel.finished() == ["m1 killed"]


def test_a_stop_for_a_turn_that_has_ended_changes_nothing(channel) -> None:
    channel.message(1)
    channel.reply("Hi.")
    channel.message(20)
    assert channel.stop(9) == []
    assert channel.stop(10, turn="m1", manner="kill") == []
    assert channel.state.turn.id == "m20"


def test_a_stop_ends_a_queued_turn_alone(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.stop(9, turn="m2")
    assert channel.finished() == ["m2 stopped_by_user"]
    assert channel.state.turn.id == "m1"


def test_a_stop_that_comes_before_its_message_still_counts(channel) -> None:
    channel.stop(9, manner="kill")
    channel.stop(10, turn="m11")
    channel.message(5)
    channel.message(11)
    channel.message(12)
    assert channel.finished() == ["m5 killed", "m11 stopped_by_user"]
    assert channel.state.turn.id == "m12"
    assert len(channel.requested()) == 1


def test_a_stop_is_forgotten_after_ten_minutes_of_log_time(channel) -> None:
    channel.stop(9)
    channel.now += STOPS_KEPT_MS
    channel.message(5)
    assert channel.state.turn.id == "m5"


def test_remembered_stops_are_bounded(channel) -> None:
    for number in range(1, 3 * STOPS_LIMIT):
        channel.stop(number, turn="m99999")
    assert len(channel.state.stops) == STOPS_LIMIT
