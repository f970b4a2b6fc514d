"""Deadlines in log time."""

from services.orchestrator.deadlines import deadlines


def test_a_generation_has_a_deadline_from_its_event_on(channel) -> None:
    channel.message(1, generation_deadline_ms=5_000)
    [armed] = deadlines(channel.state)
    assert (armed.turn, armed.timer, armed.generation, armed.armed_by) == ("m1", "generation", 1, 0)
    assert armed.due_ms == channel.history[0][1] + 5_000


def test_a_generation_that_takes_too_long_shows_what_came_and_ends_as_timeout(channel) -> None:
    channel.message(1)
    channel.text("Half")
    channel.fire(channel.armed("generation")[0])
    assert channel.interrupts() == ["m1 deadline"]
    assert channel.texts() == ["Half"]
    assert len(channel.notices()) == 1
    channel.receive_all()
    assert channel.finished() == ["m1 timeout"]


def test_a_timer_before_its_deadline_changes_nothing(channel) -> None:
    channel.message(1)
    before = channel.state
    assert channel.fire(channel.armed("generation")[0], after_ms=-1) == []
    assert channel.state == before


def test_a_timer_of_a_generation_that_is_over_changes_nothing(channel) -> None:
    channel.message(1)
    first = channel.armed("generation")[0]
    channel.lost()
    before = channel.state
    assert channel.fire(first) == []
    assert channel.state == before


def test_a_timer_whose_due_time_was_forged_changes_nothing(channel) -> None:
    channel.message(1)
    armed = channel.armed("generation")[0]
    assert channel.tell(armed.fired().model_copy(update={"due_ms": 0})) == []


def test_messages_without_receipt_end_the_turn_when_their_deadline_has_passed(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTwo.\n\n")
    channel.done()
    channel.fire(channel.armed("delivery")[0])
    assert channel.last_finished().error.code == "delivery_deadline"
    assert [cancel.first for cancel in channel.cancels()] == [1]
    assert channel.state.at_rest


def test_messages_of_an_ended_turn_free_their_slots_when_their_deadline_has_passed(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n" * 8)
    channel.message(2)
    channel.text("Two.\n\n")
    assert channel.texts("m2") == []
    channel.fire(channel.armed("delivery")[0])
    assert channel.texts("m2") == ["Two."]
    assert channel.finished() == ["m1 follow_up_interrupt"]


def test_a_second_timer_of_a_deadline_changes_nothing(channel) -> None:
    channel.message(1)
    armed = channel.armed("generation")[0]
    channel.fire(armed)
    assert channel.fire(armed) == []


def test_at_rest_nothing_is_armed(channel) -> None:
    channel.message(1)
    channel.reply("Hi.")
    assert deadlines(channel.state) == ()
