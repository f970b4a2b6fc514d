"""What holds for every order of events, however they are repeated."""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.chunks import FunctionCall, FunctionCallChunk, TextChunk
from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.headers import Facts
from schemas.identities import batch_of_stream
from schemas.inbox import ChunkBatch, Failed, Sent, Skipped, TimerFired
from schemas.turns import TurnFinished
from services.orchestrator.chunks import was_read
from services.orchestrator.fold import Folded, fold
from services.orchestrator.residents import pack, unpack
from services.orchestrator.state import SLOTS, ChannelState
from services.orchestrator.step import Position

TEXTS = st.sampled_from(["a word ", "One.\n\n", "```py\n", "```\n", "line\n" * 90, "\n", "Two.\n\n" * 12, "x" * 2_500])
OUTCOMES = st.sampled_from(
    [
        Sent(message_id="77"),
        Sent(),
        Failed(code="50035", reason="no"),
        Failed(code="50001", reason="no"),
        Skipped(reason="no"),
    ]
)
ACTIONS = st.one_of(
    st.tuples(st.just("message"), st.integers(1, 30), st.sampled_from("12"), st.sampled_from([None, "7"])),
    st.tuples(st.just("refused"), st.integers(1, 30)),
    st.tuples(st.just("text"), TEXTS),
    st.tuples(st.just("text"), TEXTS),
    st.tuples(st.just("stale"), st.integers(0, 4), st.integers(1, 3)),
    st.tuples(st.sampled_from(["done", "error", "lost", "tool", "stopped", "tick"])),
    st.tuples(st.just("refused call"), st.sampled_from([400, 401, 429, 502]), st.sampled_from([None, 0, 2, 60])),
    st.tuples(st.just("failed"), st.sampled_from(["configuration", "no_attempt_left"])),
    st.tuples(st.just("receipt"), st.integers(0, SLOTS - 1), OUTCOMES),
    st.tuples(st.just("receipt"), st.integers(0, SLOTS - 1), OUTCOMES),
    st.tuples(st.sampled_from(["stop", "stop turn"]), st.integers(1, 30), st.sampled_from(["graceful", "kill"])),
    st.tuples(st.just("timer"), st.integers(0, 8), st.sampled_from([-1, 0, 5_000])),
)
RUNS = st.lists(ACTIONS, max_size=40)
RULES = st.sampled_from([2, 3, 4])
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def play(channel, actions) -> None:
    """Turn the actions into events, as far as the channel's state gives them something to act on."""
    for action in actions:
        turn = channel.state.turn
        match action:
            case ("message", number, author, guild):
                channel.message(number, author=author, guild=guild, queue_limit=3, lost_retries=1)
            case ("refused", number):
                channel.message(number, refused="Not now.")
            case ("stop", number, manner):
                channel.stop(number, manner=manner)
            case ("stop turn", number, manner):
                channel.stop(100 * number, turn=f"m{number}", manner=manner)
            case ("receipt", index, outcome):
                for out in channel.state.outstanding[index : index + 1]:
                    channel.receipt(out.turn, out.sequence, outcome)
            case ("timer", index, after_ms):
                for armed in channel.armed("generation")[index:] + channel.armed("delivery")[index : index + 1]:
                    channel.fire(armed, after_ms=after_ms)
            case ("tick",):
                channel.now += 400_000
            case _ if turn is None:
                pass
            case ("text", content):
                channel.text(content)
            case ("stale", sequence, generation):
                channel.batch(
                    TextChunk(content="stale\n\n"),
                    sequence=sequence + turn.generation.next_batch + 1,
                    generation=generation,
                )
            case ("done",):
                channel.done()
            case ("error",):
                channel.error()
            case ("refused call", status, wait_s):
                channel.refused(status, "no top_k", retry_after_s=wait_s, retryable=True, droppable=("top_k", "stop"),
                                degrades=("bad_request",))  # fmt: skip
            case ("failed", code):
                channel.failed(code)
            case ("lost",):
                channel.lost()
            case ("stopped",):
                channel.batch(end="stopped")
            case ("tool",):
                channel.batch(FunctionCallChunk(function_call=FunctionCall(id="1", name="x", args={})))


def rest(channel) -> None:
    """Let everything that is awaited come."""
    while not channel.state.at_rest:
        turn = channel.state.turn
        if turn is not None and turn.ending is None:
            if turn.asked == turn.generation.number:
                channel.done()
            else:
                channel.wait()
        channel.receive_all()


def visible(outputs) -> list:
    return [(output.topic, output.id, output.record) for output in outputs]


@relaxed
@given(actions=RUNS, rules=RULES)
def test_at_rest_every_message_has_one_finished_turn(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    rest(channel)
    received = {event.message_id for event, _ in channel.history if hasattr(event, "message_id")}
    finished = Counter(record.turn for record in channel.records(TurnFinished))
    assert finished == Counter({f"m{number}": 1 for number in received})
    assert channel.largest_snapshot < 1_000_000


@relaxed
@given(actions=RUNS, rules=RULES)
def test_a_state_that_was_packed_is_the_same(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    assert unpack(pack(channel.state, settled=1, folded=1), 0).state == channel.state


@relaxed
@given(actions=RUNS, rules=RULES)
def test_what_a_turn_puts_out_is_in_order_and_whole(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    rest(channel)
    assert all(count == 1 for count in Counter(output.id for output in channel.outputs).values())
    for turn in {output.record.turn for output in channel.outputs}:
        own = channel.records((SendText, Typing, ClearStopButton, Cancel), turn)
        assert [record.sequence for record in own] == list(range(len(own)))
        position = 0
        for record in channel.sent(turn):
            if record.start is not None:
                assert record.start == position < record.end
                position = record.end
        assert channel.records(TurnFinished, turn)[0].characters == position
        assert sum(record.stop_button for record in channel.sent(turn)) <= 1
        assert all(record.reply_to is None for record in channel.sent(turn)[1:])
        generations = [record.generation for record in channel.requested() if record.turn == turn]
        assert generations == list(range(1, len(generations) + 1))
        assert channel.typing(turn) in ([], [True, False])


@relaxed
@given(actions=RUNS, rules=RULES)
def test_every_shown_button_is_cleared(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    rest(channel)
    shown = {(record.turn, record.sequence) for record in channel.sent() if record.stop_button}
    arrived = {
        (event.turn, event.sequence)
        for event, _ in channel.history
        if getattr(getattr(event, "outcome", None), "message_id", None) is not None
    }
    lapsed = {event.turn for event, _ in channel.history if isinstance(event, TimerFired) and event.timer == "delivery"}
    cleared = {(record.turn, record.of) for record in channel.cleared()}
    assert cleared <= shown & arrived
    assert {button for button in shown & arrived if button[0] not in lapsed} <= cleared


@relaxed
@given(actions=RUNS, rules=RULES)
def test_slots_are_never_overrun(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    for action in actions:
        play(channel, [action])
        assert len(channel.state.outstanding) <= SLOTS
        assert len(channel.state.queue) <= 3
        if channel.state.turn is None:
            assert channel.state.queue == ()


@relaxed
@given(actions=RUNS, rules=RULES)
def test_events_that_come_twice_change_nothing_the_second_time(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    rest(channel)
    state = ChannelState(channel_id=channel.state.channel_id)
    outputs = []
    for index, (event, now) in enumerate(channel.history):
        if isinstance(event, TimerFired):
            event = event.model_copy(update={"armed_by": 2 * event.armed_by})
        for copy in (0, 1):
            folded = fold(state, event, Position(2 * index + copy, now))
            assert copy == 0 or folded.outputs == ()
            state = folded.state
            outputs += folded.outputs
    assert visible(outputs) == visible(channel.outputs)


@relaxed
@given(actions=RUNS, rules=RULES)
def test_a_log_that_is_read_again_gives_the_same_bytes(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    state = ChannelState(channel_id=channel.state.channel_id)
    outputs = []
    for offset, (event, now) in enumerate(channel.history):
        folded = fold(state, event, Position(offset, now))
        state = folded.state
        outputs += folded.outputs
    assert outputs == channel.outputs
    assert [output.record.model_dump_json() for output in outputs] == [
        output.record.model_dump_json() for output in channel.outputs
    ]
    assert state == channel.state


@relaxed
@given(actions=RUNS, rules=RULES)
def test_a_batch_that_is_passed_over_by_its_headers_would_change_nothing(new_channel, actions, rules) -> None:
    channel = new_channel(rules=rules)
    play(channel, actions)
    at = Position(channel.offset, channel.now)
    for event, _ in channel.history:
        if isinstance(event, ChunkBatch):
            facts = facts_of(event)
            if was_read(channel.state, facts):
                assert fold(channel.state, event, at) == Folded(channel.state, ())


def facts_of(batch: ChunkBatch) -> Facts:
    event_id = batch_of_stream(batch.turn, batch.generation, batch.sequence)
    return Facts(
        type="ChunkBatch", version=1, id=event_id, channel="500",
        turn=batch.turn, generation=batch.generation, sequence=batch.sequence,
    )  # fmt: skip


def test_copies_are_passed_over_and_what_is_new_is_not(channel) -> None:
    channel.message(1)
    channel.text("One.")
    channel.lost()
    channel.text("One.")
    read = [facts_of(event) for event, _ in channel.history if isinstance(event, ChunkBatch)]
    assert [was_read(channel.state, facts) for facts in read] == [True, True, True]
    new = replace(read[-1], sequence=1, id="batch:m1:2:1")
    assert not was_read(channel.state, new)
    assert not was_read(channel.state, replace(read[-1], id="batch:m1:2:0:nobody"))
    assert not was_read(channel.state, replace(read[0], turn="m2", id="batch:m2:1:0"))
    assert not was_read(channel.state, replace(read[0], type="GenerationFailed"))
    assert not was_read(channel.state, replace(read[0], sequence=None))
