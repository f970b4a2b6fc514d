"""A turn from its message to its end, and the turns that wait for it."""

import pytest
from inline_snapshot import snapshot

from schemas.chunks import FunctionCall, FunctionCallChunk, TextChunk, Usage
from schemas.deliveries import NOTICE
from schemas.generations import GenerationRequested
from services.orchestrator.fold import fold
from services.orchestrator.notices import EMPTY
from services.orchestrator.rules import RULES, Rules, UnknownRules
from services.orchestrator.state import EMITTED_BYTES, QUEUE_LIMIT, ChannelState
from services.orchestrator.step import Position


def test_a_message_asks_for_a_generation_and_shows_typing(channel) -> None:
    outputs = channel.message(1, guild="7")
    assert [(output.topic, output.id, output.cause) for output in outputs] == [
        ("generations", "m1/g1", 0),
        ("deliveries", "m1/d0", 0),
    ]
    assert outputs[0].record.model_dump() == snapshot(
        {
            "channel_id": "500",
            "guild_id": "7",
            "turn": "m1",
            "generation": 1,
            "message_id": "1",
            "author": {"id": "1", "name": "user 1", "bot": False},
            "content": "hello",
            "emitted": "",
            "why": "first",
            "deadline_ms": 600000,
            "rules_version": 2,
        }
    )
    assert channel.typing() == [True]


def test_a_reply_is_shown_message_by_message_and_finishes_with_its_last_receipt(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTw")
    channel.text("o.")
    assert channel.texts() == ["One."]
    channel.done(model="m-1")
    assert channel.texts() == ["One.", "Two."]
    assert [(record.start, record.end) for record in channel.sent()] == [(0, 6), (6, 10)]
    assert channel.finished() == []
    channel.receive_all()
    assert channel.last_finished().model_dump(exclude={"timings"}) == snapshot(
        {
            "channel_id": "500",
            "guild_id": None,
            "turn": "m1",
            "status": "completed",
            "model": "m-1",
            "generations": 1,
            "messages": 2,
            "characters": 10,
            "finish_reason": "stop",
            "usage": None,
            "error": None,
        }
    )
    assert channel.state.at_rest


def test_timings_are_append_times(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.reply("Hi.")
    channel.reply("You too.")
    start = channel.history[0][1]
    timings = channel.last_finished().timings
    assert {name: value - start for name, value in timings.model_dump().items()} == snapshot(
        {"received_ms": 10, "started_ms": 40, "first_chunk_ms": 50, "first_shown_ms": 70, "finished_ms": 70}
    )


def test_the_first_message_has_the_stop_button_while_the_stream_runs_and_loses_it_at_the_end(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTwo.\n\n")
    assert [record.stop_button for record in channel.sent()] == [True, False]
    channel.receipt("m1", 1)
    assert channel.cleared() == []
    channel.done()
    [clear] = channel.cleared()
    assert (clear.of, clear.message_id) == (1, "10002")


def test_a_reply_that_comes_at_once_has_no_stop_button(channel) -> None:
    channel.message(1)
    channel.text("All in one.")
    channel.done()
    channel.receive_all()
    assert [record.stop_button for record in channel.sent()] == [False]
    assert channel.cleared() == []


def test_a_button_whose_receipt_comes_while_the_turn_drains_is_cleared_then(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n")
    channel.done()
    assert channel.cleared() == []
    channel.receive_all()
    assert [clear.of for clear in channel.cleared()] == [1]


def test_an_empty_reply_is_said_to_be_empty(channel) -> None:
    channel.message(1)
    channel.reply(" \n\n ")
    assert channel.notices() == [NOTICE + EMPTY]
    assert channel.finished() == ["m1 empty_response"]


def test_the_latest_usage_wins_whatever_chunk_brings_it(channel) -> None:
    channel.message(1)
    channel.batch(TextChunk(content="Hi.", usage=Usage(output_tokens=1)))
    channel.batch(TextChunk(content="", usage=Usage(output_tokens=7)))
    channel.error()
    channel.receive_all()
    assert channel.last_finished().usage == Usage(output_tokens=7)


def test_a_provider_error_shows_what_came_and_then_one_line(channel) -> None:
    channel.message(1)
    channel.text("Half a sen")
    message = "Slow down @everyone\n`now` sk-abcdefghijklmnop"
    channel.error("500", type="rate_limit", message=message, retryable=True, retry_after_s=20.5)
    assert channel.texts() == ["Half a sen"]
    assert channel.notices() == [
        f"{NOTICE}Too many requests: Error code 500: Slow down @\u200beveryone 'now' [hidden]. "
        "Send your message again in 21 s."
    ]
    channel.receive_all()
    assert channel.finished() == ["m1 error"]
    assert "sk-" not in channel.last_finished().model_dump_json()


def test_an_error_is_told_in_the_language_of_the_turn(channel) -> None:
    for number, locale in ((1, "en"), (2, "ja")):
        channel.message(number, locale=locale)
        channel.error("429", type="rate_limit", message="Slow down @everyone", retryable=True, retry_after_s=20.5)
        channel.receive_all()
    assert channel.notices() == [
        f"{NOTICE}Too many requests: Error code 429: Slow down @\u200beveryone. Send your message again in 21 s.",
        f"{NOTICE}リクエストが多すぎます: エラーコード 429: Slow down @\u200beveryone. "
        "21 秒後に、もう一度メッセージを送ってください。",
    ]


def test_an_endless_error_message_is_cut(channel) -> None:
    channel.message(1)
    channel.error("c" * 9_000, message="@" * 90_000, original="o" * 90_000)
    channel.receive_all()
    assert len(channel.notices()[0]) < 1_000
    assert len(channel.last_finished().model_dump_json()) < 3_000


def test_a_timeout_of_the_provider_is_a_timeout(channel) -> None:
    channel.message(1)
    channel.error("idle_timeout", type="timeout")
    channel.receive_all()
    assert channel.finished() == ["m1 timeout"]


def test_a_refused_key_is_no_business_of_the_user(channel) -> None:
    channel.message(1)
    channel.error("401", message="the key ab12 is wrong", classifiers=("key_access",))
    assert "ab12" not in channel.notices()[0]


def test_a_tool_call_ends_the_turn_and_closes_its_stream(channel) -> None:
    channel.message(1)
    channel.text("Let me look.")
    channel.batch(FunctionCallChunk(function_call=FunctionCall(id="1", name="search", args={})))
    channel.receive_all()
    assert channel.texts() == ["Let me look."]
    assert channel.interrupts() == ["m1 internal"]
    assert channel.last_finished().error.code == "tools_unavailable"


def test_a_second_message_waits_and_is_answered_as_a_reply(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.reply("First.")
    channel.reply("Second.")
    assert [(record.turn, record.reply_to) for record in channel.sent()] == [("m1", None), ("m2", "2")]
    assert channel.finished() == ["m1 completed", "m2 completed"]


def test_in_a_guild_only_the_first_message_of_a_turn_is_a_reply(channel) -> None:
    channel.message(1, guild="7")
    channel.reply("One.\n\n", "Two.")
    assert [record.reply_to for record in channel.sent()] == ["1", None]


def test_a_message_beyond_the_queue_is_refused_with_a_notice(channel) -> None:
    channel.message(1)
    channel.message(2, author="2", queue_limit=1)
    channel.message(3, author="3", queue_limit=1)
    assert channel.finished() == ["m3 refused"]
    assert [(record.turn, record.sequence, record.reply_to) for record in channel.sent()] == [("m3", 0, "3")]


def test_the_queue_is_bounded_whatever_the_settings_say(channel) -> None:
    for number in range(1, 100):
        channel.message(number, author=str(number), queue_limit=1_000, content="\x01" * 8_000)
    assert len(channel.state.queue) == QUEUE_LIMIT
    assert channel.finished() == [f"m{number} refused" for number in range(QUEUE_LIMIT + 2, 100)]
    assert len(channel.notices()) == 1


def test_the_largest_state_fits_into_a_snapshot(channel) -> None:
    for number in range(1, 400):
        channel.message(number, author=str(number), content="\x01" * 8_000)
    for _ in range(20):
        channel.text("\x01\x01\x01\n" * 250)
        channel.receive_all()
    channel.text("\x01\x01\x01\n" * 5_000)
    channel.text("\x01" * 1_800)
    assert channel.state.turn.ending is None
    assert 500_000 < channel.largest_snapshot < 900_000


def test_a_refused_message_starts_nothing_and_shows_its_notice(channel) -> None:
    channel.message(1, refused="Wait a minute.")
    channel.message(2, refused="")
    assert channel.notices() == [NOTICE + "Wait a minute."]
    assert channel.finished() == ["m1 refused", "m2 refused"]
    assert channel.requested() == []


def test_the_same_message_never_starts_two_turns(channel) -> None:
    channel.message(1)
    channel.reply("Hi.")
    assert channel.message(1) == []


def test_a_follow_up_takes_the_floor_before_the_queue(channel) -> None:
    channel.message(1)
    channel.message(2, author="2")
    channel.text("Shown.\n\nNot sh")
    channel.message(3)
    assert channel.interrupts() == ["m1 follow_up"]
    assert [(cancel.turn, cancel.first) for cancel in channel.cancels()] == [("m1", 1)]
    assert channel.finished() == ["m1 follow_up_interrupt"]
    assert channel.texts() == ["Shown."]
    assert channel.state.turn.id == "m3"
    channel.receive_all()
    channel.reply("Third.")
    channel.reply("Second.")
    assert channel.finished() == ["m1 follow_up_interrupt", "m3 completed", "m2 completed"]


def test_a_follow_up_waits_where_the_settings_say_so(channel) -> None:
    channel.message(1)
    channel.message(2, follow_up="enqueue")
    assert channel.interrupts() == []
    assert len(channel.state.queue) == 1


def test_a_follow_up_lets_a_reply_finish_that_only_awaits_its_receipts(channel) -> None:
    channel.message(1)
    channel.text("All.")
    channel.done()
    channel.message(2)
    channel.receive_all()
    assert channel.finished() == ["m1 completed"]
    assert channel.state.turn.id == "m2"


def test_the_button_of_an_interrupted_turn_is_cleared_when_its_message_is_known(channel) -> None:
    channel.message(1)
    channel.text("Shown.\n\n")
    channel.message(2)
    assert channel.cleared() == []
    last = max(output.sequence for output in channel.outputs if output.id.startswith("m1/d"))
    channel.receipt("m1", 1)
    [clear] = channel.cleared()
    assert (clear.turn, clear.of, clear.sequence) == ("m1", 1, last + 1)


def test_a_long_reply_keeps_a_bounded_tail_for_a_continuation(channel) -> None:
    channel.message(1)
    for _ in range(60):
        channel.text("word " * 400 + "\n\n")
        channel.receive_all()
    channel.lost()
    emitted = channel.requested()[-1].emitted
    assert 0.9 * EMITTED_BYTES < len(emitted) <= EMITTED_BYTES
    assert (
        "".join(channel.texts()).replace(" ", "").replace("\n", "").endswith(emitted.replace(" ", "").replace("\n", ""))
    )


def test_a_request_carries_the_stamp_of_its_turns_message(channel) -> None:
    newest = max(RULES) + 1
    rules = {**RULES, newest: Rules()}
    channel.message(100)
    [(message, now)] = channel.history
    state = ChannelState(channel_id=message.channel_id)
    folded = fold(state, message.model_copy(update={"rules_version": newest}), Position(0, now), rules)
    [request] = [out.record for out in folded.outputs if isinstance(out.record, GenerationRequested)]
    assert request.rules_version == newest


def test_a_message_with_the_stamp_of_newer_code_waits_for_it_and_one_of_retired_rules_is_decided_by_the_oldest(
    channel,
) -> None:
    with pytest.raises(UnknownRules, match=str(max(RULES) + 1)):
        channel.message(1, rules_version=max(RULES) + 1)
    channel.message(2, rules_version=1)
    channel.reply("Hi.")
    assert channel.finished() == ["m2 completed"]
    assert channel.requested()[0].attempt is None
