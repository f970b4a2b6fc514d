"""What follows a call that failed or said nothing, as the fold decides it from rules version 3 on."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.attempts import AttemptFacts, Chosen, Rung, Uncalled
from schemas.chunks import DoneChunk, DoneMetadata, ErrorChunk, ProviderError, TextChunk, ThoughtLogEntry, Usage
from schemas.deliveries import NOTICE
from services.orchestrator.attempts.rules import AttemptRules
from services.orchestrator.notices import EMPTY
from services.orchestrator.state import Attempts, ChannelState, from_snapshot, to_snapshot

LIMITS = AttemptRules()
LADDER = ("stream_options", "top_k", "stop")
DEGRADES = {"droppable": LADDER, "degrades": ("bad_request",), "images": True, "tools": True}


@pytest.fixture
def channel(new_channel):
    return new_channel(rules=3)


def steps(channel) -> list[str]:
    return [record.attempt.step for record in channel.requested()]


def rungs(channel) -> list[Rung]:
    return [record.attempt.rung for record in channel.requested()]


def test_a_turns_first_generation_is_its_first_attempt(channel) -> None:
    channel.message(1)
    assert steps(channel) == ["first"]
    assert channel.requested()[0].attempt.earlier == ()


# -- what an error names -----------------------------------------------------------------------------------------------


def test_what_a_refusal_names_is_given_up_at_once_and_the_user_sees_nothing_of_it(channel) -> None:
    channel.message(1)
    channel.refused(400, "Unsupported parameters: 'top_k' and 'stop'", **DEGRADES)
    assert steps(channel) == ["first", "same"]
    assert rungs(channel)[1] == Rung(without=("top_k", "stop"))
    [earlier] = channel.requested()[1].attempt.earlier
    assert (earlier.generation, earlier.outcome, earlier.chosen) == (
        1, "error", Chosen(provider="home", model="m", credential="key"),
    )  # fmt: skip
    channel.reply("Hi.")
    assert channel.notices() == []
    assert channel.finished() == ["m1 completed"]
    assert channel.last_finished().generations == 2


def test_a_refusal_of_images_strips_them_even_as_a_failure_of_the_server(channel) -> None:
    channel.message(1)
    channel.refused(500, "image input is not supported", type="provider_overloaded", **DEGRADES)
    assert rungs(channel)[1] == Rung(without_images=True)


def test_after_three_refusals_that_name_something_the_ladder_goes_on_from_what_they_named(channel) -> None:
    keys = ("a_1", "b_2", "c_3", "d_4", "e_5")
    facts = {"droppable": keys, "degrades": ("bad_request",)}
    channel.message(1)
    for key in keys[:4]:
        channel.refused(422, f"{key}: Extra inputs are not permitted", **facts)
    assert [rung.without for rung in rungs(channel)] == [(), keys[:1], keys[:2], keys[:3], keys[:4]]
    channel.refused(422, "no", **facts)
    assert rungs(channel)[-1].without == (*keys[:3], "e_5")


def test_a_refusal_that_names_what_was_left_out_already_is_not_repeated(channel) -> None:
    channel.message(1)
    facts = {"droppable": ("top_k",)}
    channel.refused(400, "no top_k", **facts)
    channel.refused(400, "no top_k", **facts)
    assert steps(channel) == ["first", "same", "key"]


# -- the ladder --------------------------------------------------------------------------------------------------------


def test_refusals_that_name_nothing_lead_down_the_ladder_and_no_body_is_sent_twice(channel) -> None:
    channel.message(1)
    while steps(channel)[-1] in ("first", "same"):
        channel.refused(400, "no", **DEGRADES)
    base = ("stream_options",)
    assert rungs(channel) == [
        Rung(),
        Rung(without=base),
        Rung(without=(*base, "top_k")),
        Rung(without=(*base, "stop")),
        Rung(without=base, without_images=True),
        Rung(without=base, without_tools=True),
        Rung(without=LADDER, without_images=True, without_tools=True),
        Rung(),
    ]
    assert steps(channel)[-1] == "key"


@pytest.mark.parametrize(
    ("status", "degrades", "step"),
    [
        (502, ("bad_request", "bad_gateway"), "same"),
        (502, ("bad_request", "opaque_failure"), "key"),
        (500, ("bad_request", "opaque_failure"), "same"),
        (500, ("bad_request",), "key"),
        (503, ("bad_request", "bad_gateway", "opaque_failure"), "key"),
        (422, ("bad_request",), "same"),
        (422, (), "key"),
        (401, ("bad_request",), "key"),
    ],
)
def test_which_bare_refusals_degrade_is_said_by_the_request(channel, status: int, degrades, step: str) -> None:
    channel.message(1)
    kind = "api_error" if status < 500 else "provider_overloaded"
    channel.refused(status, "Internal Server Error", type=kind, droppable=("top_k",), degrades=degrades)
    assert steps(channel)[-1] == step


def test_an_error_in_the_stream_before_the_reply_degrades_as_one_before_the_stream(channel) -> None:
    channel.message(1)
    error = ProviderError(type="provider_overloaded", code="502", message="bad gateway", retryable=True)
    assert channel.batch(TextChunk(content=" \n"), ErrorChunk(error=error)) == []
    channel.used("eof", status=200, droppable=("top_k",), degrades=("bad_gateway",))
    assert steps(channel) == ["first", "same"]
    assert rungs(channel)[1] == Rung(without=("top_k",))


@pytest.mark.parametrize(
    "sign",
    [
        TextChunk(content="Hi"),
        TextChunk(content="", thoughts=(ThoughtLogEntry(kind="raw", content="hm"),)),
        TextChunk(content="", usage=Usage(output_tokens=1)),
    ],
)
def test_once_a_reply_has_begun_another_key_goes_on_with_it_and_nothing_is_given_up(channel, sign) -> None:
    channel.message(1)
    channel.batch(sign)
    channel.refused(400, "no top_k", **DEGRADES)
    assert steps(channel) == ["first", "key"]
    assert rungs(channel)[1] == Rung()


def test_what_was_shown_is_gone_on_with(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTw")
    channel.refused(502)
    assert (channel.requested()[1].emitted, channel.requested()[1].why) == ("One.\n\n", "first")
    channel.reply("Two.")
    assert channel.texts() == ["One.", "Two."]
    assert channel.finished() == ["m1 completed"]


def test_what_a_failed_attempt_left_unfinished_is_shown_if_no_other_says_anything(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTw")
    channel.refused(502)
    channel.batch(TextChunk(content="", thoughts=(ThoughtLogEntry(kind="raw", content="hm"),)))
    channel.refused(503)
    assert [record.emitted for record in channel.requested()] == ["", "One.\n\n", "One.\n\n"]
    channel.failed("no_attempt_left")
    assert channel.texts() == ["One.", "Tw"]
    assert [(record.start, record.end) for record in channel.sent() if record.start is not None] == [(0, 6), (6, 8)]


def test_a_stop_before_the_next_attempt_has_said_anything_shows_what_came(channel) -> None:
    channel.message(1)
    channel.text("Half")
    channel.refused(502)
    channel.stop(9)
    assert channel.texts() == ["Half"]


# -- keys and models ---------------------------------------------------------------------------------------------------


def test_three_keys_are_tried_for_a_model_then_another_model_begins_anew(channel) -> None:
    channel.message(1)
    for key in ("1", "2", "3"):
        chosen = {"provider": "home", "model": "m", "credential": key}
        channel.refused(401, classifiers=("key_access",), chosen=chosen, **DEGRADES)
    assert steps(channel) == ["first", "key", "key", "model"]
    channel.refused(400, "no", chosen={"provider": "home", "model": "other", "credential": "1"}, **DEGRADES)
    assert (steps(channel)[-1], rungs(channel)[-1]) == ("same", Rung(without=("stream_options",)))


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("first_byte_timeout", {"type": "timeout"}),
        ("safety", {"type": "content_blocked"}),
        ("400", {"classifiers": ("context_length",)}),
        ("connect_failed", {}),
    ],
)
def test_what_any_key_would_meet_calls_for_another_model(channel, code: str, more) -> None:
    channel.message(1)
    channel.refused(400, code=code, **more)
    assert steps(channel) == ["first", "model"]


def test_when_nothing_is_left_the_last_real_error_is_shown_with_the_advice_for_whose_key_it_was(channel) -> None:
    channel.message(1)
    channel.refused(401, "first", classifiers=("key_access",))
    chosen = {"provider": "home", "model": "other", "credential": "own", "source": "personal"}
    channel.refused(402, "second", classifiers=("exhausted_balance",), chosen=chosen)
    assert channel.notices() == []
    channel.failed("no_attempt_left")
    [notice] = channel.notices()
    assert "second" in notice
    channel.receive_all()
    assert (channel.last_finished().error.code, channel.last_finished().generations) == ("402", 3)


def test_with_no_key_at_all_that_is_what_is_shown(channel) -> None:
    channel.message(1)
    channel.failed("no_attempt_left")
    channel.receive_all()
    assert channel.last_finished().error.code == "no_attempt_left"


def test_a_call_that_could_not_be_made_with_its_key_leads_to_another(channel) -> None:
    channel.message(1)
    channel.failed("configuration", AttemptFacts(chosen=Chosen(provider="home", model="m", credential="gone")))
    assert steps(channel) == ["first", "key"]
    assert channel.requested()[1].attempt.earlier[0].chosen.credential == "gone"


def test_a_context_that_could_not_be_made_ends_the_turn(channel) -> None:
    channel.message(1)
    channel.refused(401)
    channel.failed("bad_record")
    channel.receive_all()
    assert channel.last_finished().error.code == "bad_record"


# -- pauses ------------------------------------------------------------------------------------------------------------


def limited(channel, wait_s: float | None = 2) -> None:
    channel.refused(429, type="rate_limit", retryable=True, retry_after_s=wait_s)


def test_a_short_wait_that_the_provider_asks_for_is_kept_in_log_time(channel) -> None:
    channel.message(1)
    limited(channel)
    assert steps(channel) == ["first"]
    [armed] = channel.armed("generation")
    assert (armed.generation, armed.due_ms) == (2, channel.history[-1][1] + 2_000)
    assert channel.fire(armed, after_ms=-1) == []
    channel.fire(armed)
    assert steps(channel) == ["first", "same"]
    assert channel.requested()[1].attempt.paused_ms == 2_000
    assert channel.fire(armed) == []
    [deadline] = channel.armed("generation")
    assert deadline.due_ms == channel.history[-2][1] + 600_000


def test_one_that_waited_in_vain_is_given_up_for_another_key(channel) -> None:
    channel.message(1)
    limited(channel)
    channel.wait()
    limited(channel)
    assert steps(channel) == ["first", "same", "key"]


@pytest.mark.parametrize("wait_s", [None, -1, 60])
def test_nobody_waits_for_long(channel, wait_s: float | None) -> None:
    channel.message(1)
    limited(channel, wait_s)
    assert steps(channel) == ["first", "key"]


def test_an_empty_reply_is_asked_for_again_twice_after_a_second_each(channel) -> None:
    channel.message(1)
    for _ in range(2):
        channel.batch(DoneChunk(metadata=DoneMetadata(finish_reason="stop")))
        assert channel.armed("generation")[0].generation == channel.requested()[-1].generation
        channel.used("eof", status=200)
        assert channel.armed("generation")[0].due_ms == channel.history[-1][1] + LIMITS.empty_pause_ms
        channel.wait()
    assert steps(channel) == ["first", "same", "same"]
    channel.reply(" \n")
    assert channel.notices() == [NOTICE + EMPTY]
    assert channel.finished() == ["m1 empty_response"]
    assert channel.last_finished().generations == 3


def test_empty_twice_then_text_is_a_normal_reply(channel) -> None:
    channel.message(1)
    for _ in range(2):
        channel.done()
        channel.wait()
    channel.reply("Hi.")
    assert channel.texts() == ["Hi."]
    assert channel.notices() == []
    assert channel.finished() == ["m1 completed"]


def test_an_empty_continuation_of_shown_text_is_no_empty_reply(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n")
    channel.lost()
    channel.reply()
    assert channel.finished() == ["m1 completed"]


@pytest.mark.parametrize("manner", ["graceful", "kill"])
def test_a_stop_ends_a_pause(channel, manner: str) -> None:
    channel.message(1)
    limited(channel)
    [armed] = channel.armed("generation")
    channel.stop(9, manner=manner)
    assert channel.finished() == [f"m1 {'killed' if manner == 'kill' else 'stopped_by_user'}"]
    assert channel.last_finished().generations == 1
    assert channel.fire(armed) == []
    assert channel.state.at_rest


def test_a_follow_up_ends_a_pause(channel) -> None:
    channel.message(1)
    limited(channel)
    channel.message(2)
    assert channel.finished() == ["m1 follow_up_interrupt"]
    assert [record.turn for record in channel.requested()] == ["m1", "m2"]


def test_no_event_of_a_generation_that_was_not_asked_for_counts(channel) -> None:
    channel.message(1)
    limited(channel)
    before = channel.state
    assert channel.batch(TextChunk(content="x\n\n")) == []
    assert channel.failed("configuration") == []
    assert channel.state == before


# -- lost streams and ends of our own ----------------------------------------------------------------------------------


def test_a_lost_stream_goes_on_with_what_was_given_up(channel) -> None:
    channel.message(1)
    channel.refused(400, "no top_k", droppable=("top_k",))
    channel.text("One.\n\n")
    channel.used("lost")
    request = channel.requested()[-1]
    assert (request.why, request.attempt.step, request.attempt.rung) == ("lost", "same", Rung(without=("top_k",)))
    assert [earlier.outcome for earlier in request.attempt.earlier] == ["error", "lost"]


def test_only_lost_streams_count_against_the_retries_of_lost_streams(channel) -> None:
    channel.message(1, lost_retries=1)
    channel.refused(401)
    channel.lost()
    channel.lost()
    channel.receive_all()
    assert len(channel.requested()) == 3
    assert channel.last_finished().error.code == "lost"


def test_an_error_before_the_stream_was_lost_is_shown_when_no_retry_is_left(channel) -> None:
    channel.message(1, lost_retries=0)
    error = ProviderError(type="rate_limit", code="429", message="no", retryable=True)
    channel.batch(ErrorChunk(error=error), end="lost")
    channel.receive_all()
    assert channel.last_finished().error.code == "429"


def test_a_request_that_was_never_sent_is_not_asked_for_again(channel) -> None:
    channel.message(1)
    error = ProviderError(type="api_error", code="expired", message="too late", retryable=True)
    channel.used("expired", ErrorChunk(error=error))
    channel.receive_all()
    assert channel.last_finished().error.code == "expired"
    assert len(channel.requested()) == 1


def test_a_stream_that_was_stopped_ends_the_turn(channel) -> None:
    channel.message(1)
    channel.text("Half")
    channel.used("stopped", DoneChunk(metadata=DoneMetadata(stopped=True)))
    channel.receive_all()
    assert channel.texts() == ["Half"]
    assert channel.finished() == ["m1 stopped_by_user"]


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_a_turn_has_a_bound_of_calls(channel) -> None:
    channel.message(1)
    while channel.state.turn.ending is None:
        number = str(channel.state.turn.generation.number)
        channel.refused(401, number, chosen={"provider": "home", "model": number})
    assert len(channel.requested()) == LIMITS.most_generations
    channel.receive_all()
    assert channel.last_finished().error.message == str(LIMITS.most_generations)
    assert channel.largest_snapshot < 100_000


def test_a_turn_has_a_bound_of_time(channel) -> None:
    channel.message(1, generation_deadline_ms=60_000)
    channel.now += 59_000
    channel.refused(401)
    channel.now += 2_000
    channel.refused(401, "too late for another")
    channel.receive_all()
    assert len(channel.requested()) == 2
    assert channel.last_finished().error.message == "too late for another"


def test_a_generation_that_takes_too_long_ends_the_turn(channel) -> None:
    channel.message(1)
    channel.refused(401)
    channel.fire(channel.armed("generation")[0])
    channel.receive_all()
    assert channel.finished() == ["m1 timeout"]


REPLIES = st.sampled_from(["named", "bare", "key", "limited", "empty", "lost", "text", "fails"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(replies=st.lists(REPLIES, max_size=40))
def test_no_request_is_sent_twice_to_one_key_unless_its_reply_was_empty_lost_or_waited_for(
    new_channel, replies
) -> None:
    channel = new_channel(rules=3)
    channel.message(1, lost_retries=5)
    for number, reply in enumerate(replies):
        turn = channel.state.turn
        if turn is None or turn.ending is not None:
            break
        if turn.asked < turn.generation.number:
            channel.wait()
        chosen = {"provider": "home", "model": "m", "credential": str(number)}
        match reply:
            case "named":
                channel.refused(400, "no top_k", **DEGRADES)
            case "bare":
                channel.refused(400, "no", **DEGRADES)
            case "key":
                channel.refused(401, chosen=chosen, **DEGRADES)
            case "limited":
                limited(channel)
            case "empty":
                channel.done()
            case "lost":
                channel.lost()
            case "text":
                channel.text("word\n\n")
            case _:
                channel.failed("configuration", AttemptFacts.model_validate({"chosen": chosen}))
    requests = channel.requested()
    for before, after in pairwise(requests):
        same = after.attempt.step == "same" and after.attempt.rung == before.attempt.rung
        assert not same or after.attempt.paused_ms or after.attempt.earlier[-1].outcome in ("empty", "lost")
        assert after.attempt.earlier[:-1] == before.attempt.earlier
        assert after.attempt.earlier[-1].generation == before.generation
        assert after.attempt.earlier[-1].rung == before.attempt.rung


# -- snapshots ---------------------------------------------------------------------------------------------------------


def test_a_turn_of_the_rules_before_has_a_snapshot_that_code_of_before_reads(new_channel) -> None:
    channel = new_channel(rules=2)
    channel.message(1)
    turn = to_snapshot(channel.state, 0).state["turn"]
    assert isinstance(turn, dict)
    assert "attempts" not in turn
    assert b"attempt" not in channel.requested()[0].model_dump_json().encode()
    assert from_snapshot(to_snapshot(channel.state, 0)) == channel.state


def test_a_snapshot_keeps_what_the_attempts_met(channel) -> None:
    channel.message(1)
    channel.refused(400, "no top_k", **DEGRADES)
    limited(channel)
    restored = from_snapshot(to_snapshot(channel.state, 0))
    assert restored == channel.state
    assert isinstance(restored, ChannelState)
    assert restored.turn is not None
    assert isinstance(restored.turn.attempts, Attempts)
    assert [earlier.generation for earlier in restored.turn.attempts.earlier] == [1, 2]


def test_what_is_not_set_up_is_told_in_the_readers_words_to_whom_it_belongs(new_channel) -> None:
    """From rules version 4 on; what is stamped with an older one is told as it was."""
    whose = Uncalled(source="personal", provider="custom:7")
    told: dict[int, str] = {}
    for rules in (2, 3, 4):
        channel = new_channel(rules=rules)
        channel.message(1)
        channel.failed("placeholder_key", uncalled=whose)
        [told[rules]] = channel.notices()
        channel.receive_all()
        assert channel.last_finished().error.code == "placeholder_key"
    assert told[2] == told[3]
    assert "Error code placeholder_key: placeholder_key" in told[3]
    assert told[4] == (
        "-# No model can answer yet: custom:7: The provider wants a key, and none is stored. "
        "Have your key added anew: `odradek provider add --user`."
    )
