"""Slots, receipts, and channels that cannot be reached."""

import pytest

from schemas.inbox import Failed, Skipped
from services.orchestrator.state import SLOTS


def test_at_most_eight_messages_are_without_receipt(channel) -> None:
    channel.message(1)
    channel.text("".join(f"Paragraph {number}.\n\n" for number in range(20)))
    assert len(channel.sent()) == SLOTS
    channel.receipt("m1", channel.sent()[0].sequence)
    assert len(channel.sent()) == SLOTS + 1
    channel.done()
    channel.receive_all()
    assert channel.texts() == [f"Paragraph {number}." for number in range(20)]
    assert channel.last_finished().messages == 20


def test_typing_ends_behind_the_last_message(channel) -> None:
    channel.message(1)
    channel.text("".join(f"Paragraph {number}.\n\n" for number in range(10)))
    channel.done()
    assert channel.typing() == [True]
    channel.receive_all()
    assert channel.typing() == [True, False]
    last = max(record.sequence for record in channel.sent())
    assert [output.sequence for output in channel.outputs if output.topic == "deliveries"][-1] > last


def test_the_messages_of_an_interrupted_turn_keep_their_slots_until_their_receipts(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n" * SLOTS)
    channel.message(2)
    channel.text("Two.\n\n")
    assert channel.texts("m2") == []
    channel.receipt("m1", channel.sent("m1")[0].sequence, Skipped(reason="cancelled"))
    assert channel.texts("m2") == ["Two."]


def test_a_reply_that_runs_too_far_ahead_of_discord_is_ended(channel) -> None:
    channel.message(1)
    for _ in range(3):
        channel.text("word " * 20_000 + "\n\n")
        if channel.state.turn.ending:
            break
    assert channel.interrupts() == ["m1 internal"]
    channel.receive_all()
    assert channel.last_finished().error.code == "reply_too_long"
    assert "".join(channel.texts()).count("word") > 20_000
    position = 0
    for record in channel.sent()[:-1]:
        assert record.start == position
        position = record.end


@pytest.mark.parametrize("code", ["10003", "50001", "50013", "404", "403"])
def test_a_channel_that_cannot_be_reached_ends_the_turn_without_further_sends(channel, code: str) -> None:
    channel.message(1)
    channel.text("One.\n\nTwo.\n\nThree")
    channel.refuse_first(code)
    assert channel.texts() == ["One.", "Two."]
    assert channel.notices() == []
    assert len(channel.cancels()) == 1
    assert channel.interrupts() == ["m1 internal"]
    assert channel.finished() == ["m1 error"]


def test_another_refusal_is_noted_and_the_turn_goes_on(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTwo.\n\n")
    channel.refuse_first("50035")
    channel.done()
    channel.receive_all()
    result = channel.last_finished()
    assert (result.status, result.messages, result.error.code) == ("completed", 1, "delivery_failed_50035")
    assert channel.cleared() == []


def test_a_turn_of_which_nothing_arrived_is_no_success(channel) -> None:
    channel.message(1)
    channel.text("One.")
    channel.done()
    channel.refuse_first("50035")
    assert channel.finished() == ["m1 error"]


def test_a_receipt_that_nobody_awaits_changes_nothing(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n")
    channel.receipt("m1", 1)
    before = channel.state
    assert channel.receipt("m1", 1) == []
    assert channel.receipt("m1", 0) == []
    assert channel.receipt("m7", 1, Failed(code="50001", reason="no")) == []
    assert channel.state == before
