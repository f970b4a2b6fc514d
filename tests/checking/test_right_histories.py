"""Runs in which everything is as it must be, and the checker says so."""

from dataclasses import replace

import pytest

from schemas.chunks import ProviderError
from schemas.headers import Facts
from schemas.inbox import Failed, GenerationFailed, TimerFired
from services.orchestrator.deadlines import deadlines
from services.sandbox.checking.checks import INVARIANTS, check
from services.sandbox.checking.history import Written


def broken(history, only=None) -> list[tuple[int, str]]:
    return [(violation.invariant, violation.what) for violation in check(history, only).violations]


def test_a_whole_turn_breaks_nothing(run, whole_turn) -> None:
    whole_turn(run)
    checked = check(run.rest())
    assert checked.violations == ()
    assert checked.skipped == ()


def test_turns_of_several_channels_break_nothing(run, whole_turn) -> None:
    for number, channel in enumerate(("101", "102", "103", "101"), start=1):
        whole_turn(run, number, channel)
        run.snapshot(channel)
        run.commit()
    assert broken(run.rest()) == []


def test_repeated_copies_of_everything_break_nothing(run, whole_turn) -> None:
    whole_turn(run)
    for written in list(run.writes):
        run.again(written)
    assert broken(run.rest()) == []


def test_a_lost_stream_that_another_generation_goes_on_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.call(turn, "One.\n\n", "Two.\n\n", "Thr", ending="lost")
    run.call(turn, "Three.\n\n", "Four.", generation=2, instance="provider-1")
    run.deliver()
    history = run.rest()
    assert broken(history) == []
    assert [message.text for message in history.shown] == ["One.", "Two.", "Three.", "Four."]


def test_a_zombie_that_writes_on_after_its_stream_was_lost_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.call(turn, "One.\n\n", ending="lost")
    run.slice(turn, 1, b"data: late\n\n")
    run.end(turn, 2, "eof")
    run.call(turn, "Two.", generation=2, instance="provider-1")
    run.close(turn, "done")
    run.deliver()
    assert broken(run.rest()) == []


def test_a_stopped_turn_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.begin(turn)
    run.stop(2, turn)
    run.halt(turn)
    run.deliver()
    assert broken(run.rest()) == []


def test_a_kill_of_a_turn_and_of_the_queue_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.say(2, author="2")
    run.begin(turn)
    run.stop(3, manner="kill")
    run.halt(turn)
    run.skip()
    history = run.rest()
    assert broken(history) == []
    assert history.shown == []


def test_a_stop_that_comes_before_its_message_breaks_nothing(run) -> None:
    run.stop(2, "m1")
    run.say(1)
    assert broken(run.rest()) == []


def test_a_stop_that_only_the_provider_heard_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.stop(2, turn, topics=("control",))
    run.prompt(turn)
    run.claim(turn)
    run.end(turn, 0, "stopped")
    run.close(turn, "stopped")
    assert broken(run.rest()) == []


def test_a_follow_up_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.begin(turn)
    second = run.say(2)
    run.halt(turn)
    run.skip()
    run.call(second, "Hello.")
    run.deliver()
    assert broken(run.rest()) == []


def test_a_message_that_is_refused_by_discord_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.call(turn, "One.\n\n", "Two.")
    run.deliver(Failed(code="50035", reason="Invalid Form Body"))
    assert broken(run.rest()) == []


def test_a_prompt_in_the_dead_letters_breaks_nothing(run, whole_turn) -> None:
    turn = run.say(1)
    facts = Facts(type="ProviderRequest", version=1, id=f"prompt:{turn}:1", channel="101", turn=turn, generation=1)
    run.bury(run.poison("prompts", facts), "provider")
    error = ProviderError(type="api_error", code="invalid_value", message="no", retryable=False)
    failed = GenerationFailed(turn=turn, generation=1, error=error)
    run.event(failed, f"failed:{turn}:1:provider", turn=turn, generation=1)
    # The request was answered by a prompt that nobody could read: its reader ended the generation.
    run.deliver()
    whole_turn(run, 2)
    assert broken(run.rest()) == []


def test_an_unreadable_event_in_the_dead_letters_breaks_nothing(run, whole_turn) -> None:
    whole_turn(run)
    run.bury(run.poison("inbox", Facts(type="Nonsense", version=1, id="x", channel="101")), "orchestrator")
    whole_turn(run, 2)
    assert broken(run.rest()) == []


def test_a_deadline_breaks_nothing_though_two_processes_tell_it_and_one_too_early(run) -> None:
    turn = run.say(1, generation_deadline_ms=5_000)
    (armed,) = deadlines(run.states["101"])
    run.fire(armed)
    run.now += 5.0
    run.again(run.fire(armed))
    run.prompt(turn)
    run.claim(turn)
    run.end(turn, 0, "stopped")
    run.close(turn, "stopped")
    run.deliver()
    assert broken(run.rest()) == []
    assert TimerFired.__name__ in {dict(w.record.headers)["type"].decode() for w in run.writes}


def test_a_masked_secret_breaks_nothing(run) -> None:
    turn = run.say(1)
    run.begin(turn, "the key is secret-1")
    run.stop(2, turn)
    run.halt(turn)
    run.deliver()
    history = run.rest()
    history.calls[0] = replace(history.calls[0], sent=history.calls[0].sent.replace(b"secret-1", b"s3cr3t-1"))
    assert [number for number, _ in broken(history)] == [19]
    history.writes = [_with_mask(written) for written in history.writes]
    assert broken(history) == []


def test_what_a_run_did_not_observe_is_named_as_skipped(run, whole_turn) -> None:
    whole_turn(run)
    history = run.rest()
    history.commits = history.loads = history.owners = None
    checked = check(history)
    assert checked.violations == ()
    assert [number for number, _ in checked.skipped] == [9, 10, 20]


def test_a_number_without_a_check_is_refused(run) -> None:
    with pytest.raises(KeyError, match=r"\[16\]"):
        check(run.rest(), [16])


def test_every_check_states_its_rule_under_its_number() -> None:
    for number, (title, function) in INVARIANTS.items():
        assert (function.__doc__ or "").startswith(f"{number}. "), title


def _with_mask(written: Written) -> Written:
    record = written.record
    if record.topic != "raw" or b"secret-1" not in (record.value or b""):
        return written
    value = (record.value or b"").replace(b"secret-1", b"********")
    return replace(written, record=replace(record, value=value, headers=(*record.headers, ("masked", b"1"))))
