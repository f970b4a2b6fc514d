"""The story of a violation: what happened around it, short enough to be read."""

from dataclasses import replace

from services.sandbox.checking.checks import check
from services.sandbox.checking.history import Violation
from services.sandbox.checking.story import tell


def test_a_turns_story_tells_its_records_calls_faults_and_messages_in_order(run, whole_turn) -> None:
    turn = whole_turn(run)
    whole_turn(run, 2, "102")
    history = run.rest()
    history.calls.append(replace(history.calls[0], instance="provider-1", opened_at=history.calls[0].opened_at + 0.01))
    history.events.append((history.calls[0].opened_at + 0.005, "provider-0 is killed"))
    (violation,) = check(history).violations
    story = tell(history, violation, lines=60)
    first, *lines = story.splitlines()
    assert first.startswith(f"invariant 3 (channel 101 turn {turn}): generation 1 of turn {turn} was called 2 times")
    told = ["MessageReceived", "GenerationRequested", "ProviderRequest", "Claimed", "--> call", "*** provider-0 is killed",
            "RawSlice", "ChunkBatch", "SendText", "### shown", "DeliveryReceipt", "TurnFinished"]  # fmt: skip
    places = [next(place for place, line in enumerate(lines) if what in line) for what in told]
    assert places == sorted(places)
    assert "m2" not in story


def test_a_story_is_cut_to_what_stands_around_the_violation(run, whole_turn) -> None:
    for number in range(1, 6):
        whole_turn(run, number)
    history = run.rest()
    middle = history.writes[len(history.writes) // 2]
    story = tell(history, Violation(9, "something", channel="101", at=middle.at), lines=20)
    assert len(story.splitlines()) <= 23
    assert "lines before)" in story
    assert "lines after)" in story


def test_a_story_marks_copies_and_what_nobody_can_read(run, whole_turn) -> None:
    turn = whole_turn(run)
    run.again(run.find("SendText"))
    broken = run.find("TurnFinished")
    history = run.rest()
    place = history.writes.index(broken)
    history.writes[place] = replace(broken, record=replace(broken.record, value=b"{"))
    story = tell(history, Violation(1, "something", channel="101", turn=turn), lines=80)
    assert "again (deliveries/" in story
    assert "UNREADABLE (invalid_value" in story
