"""Each invariant is broken by one change to a right run, and the checker reports that one.

Some changes break two: a result that is missing is missing under a snapshot, and a changed output is not the fold's.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from schemas.channels import ChannelSnapshot
from schemas.chunks import TextChunk
from schemas.deliveries import Typing
from schemas.headers import Facts
from schemas.identities import nonce
from schemas.inbox import ChunkBatch
from schemas.registry import decode, encode
from services.orchestrator.deadlines import deadlines
from services.runtime.log import NewRecord
from services.sandbox.checking.checks import INVARIANTS, check
from services.sandbox.checking.history import History, Kept, Owned, ShownMessage, SnapshotLoaded, Written


def kind(written: Written) -> str:
    return dict(written.record.headers)["type"].decode()


def place(history: History, name: str, number: int) -> int:
    return [place for place, written in enumerate(history.writes) if kind(written) == name][number]


def drop(name: str, number: int = -1) -> Callable[[History], None]:
    def change(history: History) -> None:
        del history.writes[place(history, name, number)]

    return change


def rewrite(name: str, number: int = -1, **fields: object) -> Callable[[History], None]:
    """Other fields in the value of a record."""

    def change(history: History) -> None:
        where = place(history, name, number)
        record = history.writes[where].record
        _, content = decode(record.headers, record.value)
        value = encode(content.model_copy(update=fields))
        history.writes[where] = replace(history.writes[where], record=replace(record, value=value))

    return change


def advance(name: str, number: int, *, before: tuple[str, int]) -> Callable[[History], None]:
    """An earlier place in the order of the log."""

    def change(history: History) -> None:
        target = history.writes[place(history, *before)]
        where = place(history, name, number)
        history.writes[where] = replace(history.writes[where], order=target.order - 0.5)

    return change


def call(number: int = 0, **fields: object) -> Callable[[History], None]:
    def change(history: History) -> None:
        history.calls[number] = replace(history.calls[number], **fields)

    return change


# -- runs --------------------------------------------------------------------------------------------------------------


def a_turn(run) -> str:
    turn = run.say(1)
    run.call(turn, "One.\n\n", "Two.\n\n", "Three.")
    run.deliver()
    return turn


def a_lost_turn(run) -> str:
    turn = run.say(1)
    run.call(turn, "One.\n\n", "Tw", ending="lost")
    run.call(turn, "Two.", generation=2, instance="provider-1")
    run.deliver()
    return turn


def a_stopped_turn(run) -> str:
    turn = run.say(1)
    run.begin(turn)
    run.stop(2, turn)
    run.halt(turn)
    run.deliver()
    return turn


def a_turn_of_two_commits(run) -> None:
    a_turn(run)
    run.snapshot()
    run.commit()
    run.say(2, author="2")
    run.call("m2", "Four.")
    run.deliver()


def a_stop_in_control_that_closes_late(run) -> None:
    turn = run.say(1)
    run.begin(turn)
    run.stop(2, turn, topics=("control",))
    run.halt(turn, after=1.0)
    run.deliver()


def a_call_after_a_stop(run) -> None:
    turn = run.say(1)
    run.stop(2, turn, topics=("control",))
    run.now += 3.0
    run.begin(turn)
    run.halt(turn)
    run.deliver()


def a_call_of_an_old_prompt(run) -> None:
    turn = run.say(1)
    run.prompt(turn)
    run.now += 600.0
    run.begin(turn)
    run.writes = [w for w in run.writes if w is not run.find("ProviderRequest", 1)]
    run.ends["prompts", run.find("ProviderRequest").record.partition] -= 1
    run.stop(2, turn)
    run.halt(turn)
    run.deliver()


def a_result_without_a_message(run) -> None:
    a_turn(run)
    result = run.find("TurnFinished").record
    headers = {**dict(result.headers), "id": b"m7/finished", "turn": b"m7"}
    run.append(NewRecord("turns", result.key, result.value.replace(b'"m1"', b'"m7"'), tuple(headers.items())))


def a_batch_behind_the_end(run) -> None:
    turn = a_turn(run)
    batch = ChunkBatch(turn=turn, generation=1, sequence=5, instance="provider-0", chunks=(TextChunk(content="x"),))
    run.event(batch, f"batch:{turn}:1:5", turn=turn, generation=1, sequence=5)


def a_batch_of_a_loser(run) -> None:
    turn = a_turn(run)
    batch = ChunkBatch(turn=turn, generation=1, sequence=0, instance="provider-9", chunks=())
    run.event(batch, "batch:of the loser", turn=turn, generation=1, sequence=0)


def a_copy_with_another_header(run) -> None:
    a_turn(run)
    sent = run.find("SendText").record
    headers = tuple((name, b"00-0" if name == "traceparent" else value) for name, value in sent.headers)
    run.append(NewRecord(sent.topic, sent.key, sent.value, headers))


def a_copy_with_another_value(run) -> None:
    a_turn(run)
    sent = run.find("SendText").record
    run.append(NewRecord(sent.topic, sent.key, sent.value.replace(b"One.", b"Uno."), sent.headers))


def an_output_because_of_a_stale_batch(run) -> None:
    turn = a_turn(run)
    stale = run.again(run.find("ChunkBatch"))
    typing = Typing(channel_id="101", turn=turn, sequence=99, active=False)
    run.record("deliveries", typing, f"{turn}/d99", turn=turn, sequence=99, cause=stale.record.offset)


def an_output_because_of_nothing(run) -> None:
    turn = a_turn(run)
    typing = Typing(channel_id="101", turn=turn, sequence=99, active=False)
    run.record("deliveries", typing, f"{turn}/d99", turn=turn, sequence=99, cause=run.folded["101"])


def an_output_because_of_an_early_timer(run) -> None:
    turn = run.say(1)
    early = run.fire(deadlines(run.states["101"])[0])
    typing = Typing(channel_id="101", turn=turn, sequence=99, active=False)
    run.record("deliveries", typing, f"{turn}/d99", turn=turn, sequence=99, cause=early.record.offset)
    run.call(turn, "One.")
    run.deliver()


def two_dead_letters(run) -> None:
    a_turn(run)
    poison = run.poison("inbox", Facts(type="Nonsense", version=1, id="x", channel="101"))
    run.bury(poison, "orchestrator")
    run.bury(poison, "normalizer")


def a_defect(run) -> None:
    a_turn(run)
    run.bury(run.poison("inbox", Facts(type="Nonsense", version=1, id="x", channel="101")), "orchestrator", "defect")


def a_dead_letter_that_nobody_hears_of(run) -> None:
    a_turn(run)
    facts = Facts(type="RawSlice", version=1, id="x", channel="101", turn="m1", generation=7)
    run.bury(run.poison("raw", facts), "normalizer")


def a_skipped_text_that_is_shown(run) -> None:
    turn = run.say(1)
    run.begin(turn)
    run.stop(2, manner="kill")
    run.halt(turn)
    run.skip()
    sent = run.find("SendText").record
    _, content = decode(sent.headers, sent.value)
    run.shown.append(ShownMessage("101", "77", content.text, nonce(turn, content.sequence), run.now))


def swap_shown(history: History) -> None:
    history.shown[0], history.shown[1] = history.shown[1], history.shown[0]


def show_again(history: History) -> None:
    history.shown.append(replace(history.shown[0], message_id="77"))


def show_otherwise(history: History) -> None:
    history.shown[0] = replace(history.shown[0], text="Something else.")


def show_a_stranger(history: History) -> None:
    history.shown.append(replace(history.shown[0], message_id="77", nonce="nobody"))


def call_again(history: History) -> None:
    history.calls.append(replace(history.calls[0], instance="provider-1"))


def commit_earlier(history: History) -> None:
    last = next(c for c in reversed(history.commits) if c.group == "orchestrator" and c.offset)
    history.commits[history.commits.index(last)] = replace(last, at=history.commits[0].at)


def commit_less(history: History) -> None:
    last = history.commits[-1]
    history.commits[-1] = replace(last, offset=last.offset - 1)


def skip_events(history: History) -> None:
    history.loads.append(SnapshotLoaded(history.commits[-1].at + 1, "101", 0, 100))
    history.loads.reverse()


def load_less(history: History) -> None:
    before = history.loads[0]
    history.loads.insert(0, replace(before, at=0.5, settled=before.settled + 1, end=before.end + 1))


def load_beyond(history: History) -> None:
    history.loads[0] = replace(history.loads[0], end=history.loads[0].settled)


def forget_in_state(history: History) -> None:
    where = place(history, "ChannelSnapshot", -1)
    record = history.writes[where].record
    _, content = decode(record.headers, record.value)
    assert isinstance(content, ChannelSnapshot)
    rewrite("ChannelSnapshot", state={**content.state, "recent": []})(history)


def other_bytes(history: History) -> None:
    where = place(history, "RawSlice", 0)
    record = history.writes[where].record
    value = (record.value or b"").replace(b"One.", b"Uno.")
    history.writes[where] = replace(history.writes[where], record=replace(record, value=value))


def own_in_between(history: History) -> None:
    history.owners += [Owned(2.0, "inbox", 0, "member-2"), Owned(3.0, "inbox", 0, "member-1")]


def own_afterwards(history: History) -> None:
    history.owners.append(Owned(2.0, "inbox", 0, "member-2"))
    history.kept[0] = Kept(5.0, "inbox", 0, "member-1")


NOTHING: Callable[[History], None] = lambda _: None  # noqa: E731

TABLE: list[tuple[set[int], Callable, Callable[[History], None]]] = [
    ({1, 8}, a_turn, drop("TurnFinished")),
    ({1, 7}, a_result_without_a_message, NOTHING),
    ({2}, a_turn, lambda history: history.shown.pop()),
    ({2}, a_turn, swap_shown),
    ({2}, a_turn, show_again),
    ({2}, a_turn, show_otherwise),
    ({2}, a_turn, show_a_stranger),
    ({2}, a_skipped_text_that_is_shown, NOTHING),
    ({2, 7}, a_turn, rewrite("SendText", 1, start=1)),
    ({2, 7}, a_turn, rewrite("TurnFinished", characters=3)),
    ({3}, a_turn, call_again),
    ({3}, a_turn, call(instance="provider-1")),
    ({3}, a_turn, call(opened_at=1.0)),
    ({4}, a_lost_turn, advance("GenerationRequested", 1, before=("ChunkBatch", 1))),
    ({4, 7}, a_lost_turn, rewrite("GenerationRequested", 1, emitted="One")),
    ({4, 7}, a_lost_turn, rewrite("GenerationRequested", 1, emitted="Something else")),
    ({5}, a_batch_behind_the_end, NOTHING),
    ({5}, a_batch_of_a_loser, NOTHING),
    ({6}, a_copy_with_another_header, NOTHING),
    ({6}, a_copy_with_another_value, NOTHING),
    ({7}, a_turn, forget_in_state),
    ({7}, an_output_because_of_nothing, NOTHING),
    ({7, 11}, a_stopped_turn, rewrite("TurnFinished", status="completed")),
    ({8}, a_turn, advance("ChannelSnapshot", 0, before=("TurnFinished", 0))),
    ({9}, a_turn_of_two_commits, commit_earlier),
    ({9, 10}, a_turn, skip_events),
    ({10}, a_turn, load_less),
    ({10}, a_turn, load_beyond),
    ({11}, a_call_after_a_stop, NOTHING),
    ({11}, a_call_of_an_old_prompt, NOTHING),
    ({12}, a_stop_in_control_that_closes_late, NOTHING),
    ({13}, an_output_because_of_a_stale_batch, NOTHING),
    ({14}, a_turn, commit_less),
    ({14}, a_turn, lambda history: history.commits.clear()),
    ({15}, an_output_because_of_an_early_timer, NOTHING),
    ({17}, two_dead_letters, NOTHING),
    ({17}, a_defect, NOTHING),
    ({17}, a_dead_letter_that_nobody_hears_of, NOTHING),
    ({19}, a_turn, other_bytes),
    ({19}, a_turn, call(sent=b"")),
    ({20}, a_turn, own_in_between),
    ({20}, a_turn, own_afterwards),
]


def reported(history: History) -> dict[int, list[str]]:
    numbers: dict[int, list[str]] = {}
    for violation in check(history).violations:
        numbers.setdefault(violation.invariant, []).append(violation.what)
    return numbers


@pytest.mark.parametrize(
    ("numbers", "tell", "change"),
    TABLE,
    ids=[f"{sorted(numbers)}-{number}" for number, (numbers, _, _) in enumerate(TABLE)],
)
def test_a_change_is_reported_under_its_invariant(run, numbers, tell, change) -> None:
    tell(run)
    history = run.rest()
    if change is not NOTHING:
        assert reported(history) == {}
    change(history)
    assert set(reported(history)) == numbers, reported(history)


def test_every_invariant_with_a_check_is_broken_by_some_change() -> None:
    assert set().union(*(numbers for numbers, _, _ in TABLE)) == INVARIANTS.keys()


def test_a_frozen_holder_need_not_close_before_it_goes_on(run) -> None:
    a_stop_in_control_that_closes_late(run)
    history = run.rest()
    stopped = history.writes[place(history, "StopRequested", 0)].at
    history.frozen.append(("provider-1", stopped - 0.1, stopped + 1.0))
    assert set(reported(history)) == {12}
    history.frozen.append(("provider-0", stopped - 0.1, stopped + 1.0))
    assert reported(history) == {}


def test_a_holder_that_died_or_cannot_reach_the_broker_need_not_close(run) -> None:
    a_stop_in_control_that_closes_late(run)
    history = run.rest()
    stopped = history.writes[place(history, "StopRequested", 0)].at
    history.away.append((stopped + 0.01, stopped + 0.5))
    assert reported(history) == {}
    history.away.clear()
    history.dead.append(("provider-0", stopped + 0.1, float("inf")))
    assert reported(history) == {}


def test_a_process_that_was_frozen_over_a_stop_may_call(run) -> None:
    a_call_after_a_stop(run)
    history = run.rest()
    stopped = history.writes[place(history, "StopRequested", 0)].at
    history.frozen.append(("provider-0", stopped + 0.1, stopped + 2.0))
    assert reported(history) == {}


def test_only_the_named_invariants_are_checked(run) -> None:
    a_turn(run)
    history = run.rest()
    call_again(history)
    history.shown.pop()
    assert {violation.invariant for violation in check(history, only=[2, 7]).violations} == {2}


def test_a_violation_says_where_to_look(run) -> None:
    a_turn(run)
    history = run.rest()
    show_again(history)
    (violation,) = check(history).violations
    assert (violation.channel, violation.turn) == ("101", "m1")
    assert violation.what.startswith("deliveries/")
    assert "text 1 of turn m1 is shown 2 times" in violation.what
