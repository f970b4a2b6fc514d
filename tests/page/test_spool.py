"""The spool without a log: which records belong to which turn, what they say, what is forgotten."""

import json
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.channels import ChannelSnapshot
from schemas.claims import Alive
from schemas.deliveries import Typing
from schemas.stops import ChannelTurns, StopRequested
from services.runtime.dead_letters import dead_letter
from services.runtime.log import LogRecord
from services.runtime.outputs import output
from services.sandbox.page.spool import TURNS, Spool
from services.sandbox.page.turn import ROWS, STREAM_ROWS, TURN_BYTES, VALUE_BYTES


def test_a_turn_is_wound_from_its_message_to_its_end(turn, reading) -> None:
    spool = Spool()
    for number, record in enumerate(turn.whole()):
        spool.add(reading.read(record, 10 * (number + 1)))
    (view,) = spool.turns()
    assert (view["author"], view["title"], view["status"], view["model"]) == (
        "Ada",
        "hello",
        "completed",
        "sandbox-echo",
    )
    assert (view["began_ms"], view["rows"], view["generations"]) == (turn.began_ms, 10, 1)
    assert view["last_ms"] == turn.began_ms + 100
    rows = spool.rows(view["turn"])
    assert rows is not None
    assert [(row["topic"], row["offset"], row["type"], row["generation"], row["glance"]) for row in rows] == snapshot(
        [
            ("inbox", 0, "MessageReceived", None, "Ada: hello"),
            ("generations", 0, "GenerationRequested", 1, "first"),
            ("prompts", 0, "ProviderRequest", 1, "openai-chat · sandbox-echo · http://127.0.0.1/v1/chat/completions"),
            ("claims", 0, "Claimed", 1, "stream:m1593540240998400000:1 by provider-0"),
            ("raw", 0, "RawSlice", 1, '… "delta":{"content":"hi"}}]}'),
            ("inbox", 1, "ChunkBatch", 1, "“hi” · done"),
            ("deliveries", 0, "SendText", None, "[stop] hi"),
            ("inbox", 2, "DeliveryReceipt", None, "sent 9"),
            ("claims", 1, "Closed", 1, "stream:m1593540240998400000:1 · done"),
            ("turns", 0, "TurnFinished", None, "completed · 1 message"),
        ]
    )


def test_each_hop_says_who_wrote_what_and_how_long_it_took(turn, reading) -> None:
    spool = Spool()
    times = [4, 9, 20, 22, 60, 65, 200, 230, 240, 250]
    for record, ms in zip(turn.whole(), times, strict=True):
        spool.add(reading.read(record, ms))
    (view,) = spool.turns()
    assert [(hop["worker"], hop["topic"], hop["took_ms"], hop["step"]) for hop in view["hops"]] == snapshot(
        [
            ("gateway", "inbox", 4, "its message"),
            ("orchestrator", "generations", 5, "its generation"),
            ("context", "prompts", 11, "its prompt"),
            ("provider", "raw", 40, "the first bytes"),
            ("normalizer", "inbox", 5, "the first chunk"),
            ("orchestrator", "deliveries", 135, "the first text"),
            ("delivery", "inbox", 30, "the first message shown"),
        ]
    )


def test_the_wait_for_the_turn_before_is_a_hop_of_its_own(make_turn, reading) -> None:
    spool, first = Spool(), make_turn()
    second = make_turn(first.began_ms + 10)
    elsewhere = make_turn(first.began_ms + 5, channel="78")
    for record, ms in (
        (first.message(), 2),
        (second.message(), 12),
        (elsewhere.message(), 13),
        (first.finished(), 300),
        (second.requested(), 301),
        (elsewhere.finished(), 900),
        (second.prompt(), 310),
        (second.finished(), 500),
    ):
        spool.add(reading.read(record, ms))
    views = {view["turn"]: view for view in spool.turns()}
    assert [hop["worker"] for hop in views[first.turn]["hops"]] == ["gateway"]
    assert [(hop["worker"], hop["took_ms"]) for hop in views[second.turn]["hops"]] == [
        ("gateway", 2),
        (None, 288),
        ("orchestrator", 1),
        ("context", 9),
    ]


def test_a_turn_that_ended_in_the_queue_shows_no_wait(make_turn, reading) -> None:
    spool, first = Spool(), make_turn()
    second = make_turn(first.began_ms + 10)
    for record, ms in ((first.message(), 2), (second.message(), 12), (second.finished(), 50), (first.finished(), 300)):
        spool.add(reading.read(record, ms))
    assert [hop["worker"] for hop in spool.turns()[0]["hops"]] == ["gateway"]


def test_the_order_in_which_topics_are_read_changes_nothing(turn, make_reading) -> None:
    records = [make_reading(partition=number).read(new, number) for number, new in enumerate(turn.whole()[:5])]
    views = []
    for order in permutations(records):
        spool = Spool()
        for record in order:
            spool.add(record)
        views.append(spool.turns())
    assert all(view == views[0] for view in views)


def test_the_first_of_several_texts_is_the_hop(turn, reading) -> None:
    spool = Spool()
    for record, ms in ((turn.message(), 1), (turn.text("two", 2), 90), (turn.text("one", 1), 40)):
        spool.add(reading.read(record, ms))
    assert [hop["took_ms"] for hop in spool.turns()[0]["hops"]] == [1, 39]


def test_a_clock_that_is_behind_makes_no_negative_hop(turn, reading) -> None:
    spool = Spool()
    for record, ms in ((turn.message(), -30), (turn.requested(), -20), (turn.prompt(), 5)):
        spool.add(reading.read(record, ms))
    assert [hop["took_ms"] for hop in spool.turns()[0]["hops"]] == [0, 0, 5]


def test_a_turn_that_no_message_dates_begins_with_its_oldest_record(make_turn, reading) -> None:
    spool, timed = Spool(), make_turn(turn="timer-1")
    spool.add(reading.read(timed.text("later"), 50))
    spool.add(reading.read(timed.receipt(), 20))
    assert spool.turns()[0]["began_ms"] == timed.began_ms + 20


def test_what_names_no_turn_goes_to_the_newest_turn_of_its_channel_by_then(make_turn, reading) -> None:
    spool = Spool()
    old, new = make_turn(), make_turn(make_turn().began_ms + 1_000)
    other = make_turn(make_turn().began_ms + 1_500, channel="78")
    for one in (old, new, other):
        spool.add(reading.read(one.message(), 2_000))
    kill = StopRequested(channel_id="77", stop_id="9", target=ChannelTurns(before="9"), manner="kill", requested_by="1")
    late = ChannelSnapshot(channel_id="77", settled=4, state_version=1, state={})
    stopped = spool.add(reading.read(output("inbox", kill, channel="77", event_id="k"), 2_100))
    settled = spool.add(reading.read(output("channels", late, channel="77", event_id="s"), 900))
    assert stopped is not None
    assert settled is not None
    assert (stopped.turn["turn"], settled.turn["turn"]) == (new.turn, old.turn)
    assert stopped.row is not None
    assert stopped.row["glance"] == "kill, channel"


def test_what_is_written_after_a_turns_end_is_listed_but_does_not_lengthen_it(turn, reading) -> None:
    spool = Spool()
    for record, ms in ((turn.message(), 0), (turn.finished(), 700)):
        spool.add(reading.read(record, ms))
    late = ChannelSnapshot(channel_id="77", settled=4, state_version=1, state={})
    wound = spool.add(reading.read(output("channels", late, channel="77", event_id="s"), 60_000))
    assert wound is not None
    assert wound.row is not None
    assert (wound.turn["last_ms"], wound.turn["rows"]) == (turn.began_ms + 700, 3)


def test_signs_of_life_and_unknown_channels_are_left_out(turn, reading) -> None:
    spool = Spool()
    spool.add(reading.read(turn.message(), 0))
    alive = output("claims", Alive(instance="a", incarnation="b"), channel="77", event_id="a")
    unknown = output(
        "channels", ChannelSnapshot(channel_id="1", settled=0, state_version=1, state={}), channel="1", event_id="u"
    )
    assert spool.add(reading.read(alive, 1)) is None
    assert spool.add(reading.read(unknown, 1)) is None


def test_a_dead_letter_is_shown_with_its_turn_and_its_bytes(turn, reading) -> None:
    spool = Spool()
    bad = reading.read(turn.requested(), 1)
    letter = dead_letter(bad, service="context", reason="invalid_value", message="no", max_bytes=1_000)
    wound = spool.add(reading.read(letter, 2))
    assert wound is not None
    assert wound.row is not None
    assert (wound.turn["turn"], wound.row["glance"]) == (turn.turn, "context · invalid_value")
    record = spool.record(turn.turn, wound.row["key"])
    assert record is not None
    assert record["form"] == "text"


def test_a_record_is_shown_with_its_headers_and_pretty_json(turn, reading) -> None:
    spool = Spool()
    wound = spool.add(reading.read(turn.text("hi"), 0))
    assert wound is not None
    assert wound.row is not None
    record = spool.record(turn.turn, wound.row["key"])
    assert record is not None
    assert record["form"] == "json"
    assert ("sequence", "1") in record["headers"]
    assert json.loads(record["value"])["text"] == "hi"
    assert "\n" in record["value"]
    assert spool.record(turn.turn, "nothing") is None
    assert spool.record("nobody", wound.row["key"]) is None


def test_raw_bytes_are_shown_as_they_came_even_where_they_are_no_text(turn, reading) -> None:
    spool = Spool()
    wound = spool.add(reading.read(turn.slice(b'{"a": 1}\xff'), 0))
    assert wound is not None
    assert wound.row is not None
    record = spool.record(turn.turn, wound.row["key"])
    assert record is not None
    assert (record["form"], record["value"]) == ("text", '{"a": 1}\ufffd')


def test_what_was_read_before_is_not_wound_twice(turn, reading) -> None:
    spool = Spool()
    records = [reading.read(turn.slice(b"x", number), number) for number in range(5)]
    for record in [*records, *records[2:]]:
        spool.add(record)
    assert spool.turns()[0]["rows"] == 5


def test_a_log_that_was_born_anew_is_read_although_its_offsets_begin_again(turn, make_reading) -> None:
    spool = Spool()
    first, second = make_reading(), make_reading()
    for number in range(3):
        spool.add(first.read(turn.slice(b"x", number), number))
    assert spool.add(second.read(turn.slice(b"y", 9), 50)) is not None
    assert spool.add(second.read(turn.slice(b"y", 10), 50)) is not None


def test_the_oldest_turn_makes_room_and_stays_forgotten(make_turn, reading) -> None:
    spool = Spool()
    turns = [make_turn(make_turn().began_ms + number) for number in range(TURNS + 1)]
    for one in turns:
        spool.add(reading.read(one.message(), 100))
    assert len(spool.turns()) == TURNS
    assert spool.rows(turns[0].turn) is None
    assert spool.add(reading.read(turns[0].finished(), 100)) is None
    assert spool.turns()[0]["turn"] == turns[-1].turn


def test_a_long_stream_leaves_room_for_the_turns_end(turn, reading) -> None:
    spool = Spool()
    for number in range(STREAM_ROWS + 10):
        wound = spool.add(reading.read(turn.slice(b"x", number), number))
    assert wound is not None
    assert wound.row is None
    ended = spool.add(reading.read(turn.finished(), STREAM_ROWS + 10))
    assert ended is not None
    assert ended.row is not None
    (view,) = spool.turns()
    assert (view["rows"], view["kept"], view["unkept_stream"]) == (STREAM_ROWS + 11, STREAM_ROWS + 1, 10)
    assert view["status"] == "completed"


def test_a_turn_has_500_rows_at_most(turn, reading) -> None:
    spool = Spool()
    for number in range(ROWS + 10):
        spool.add(reading.read(turn.text("x", number), number))
    (view,) = spool.turns()
    assert (view["rows"], view["kept"], view["unkept_stream"]) == (ROWS + 10, ROWS, 0)


def test_the_bytes_of_a_turn_are_bounded(turn, reading) -> None:
    spool = Spool()
    value = b"x" * (VALUE_BYTES + 1)
    keys = []
    for number in range(TURN_BYTES // VALUE_BYTES + 1):
        wound = spool.add(reading.read(turn.slice(value, number), number))
        assert wound is not None
        assert wound.row is not None
        keys.append(wound.row["key"])
    first, last = (spool.record(turn.turn, keys[number]) for number in (0, -1))
    assert first is not None
    assert last is not None
    assert (first["form"], len(first["value"]), first["cut"]) == ("text", VALUE_BYTES, True)
    assert (last["form"], last["value"], last["row"]["size"]) == ("dropped", "", VALUE_BYTES + 1)


def test_large_headers_are_not_kept(turn, reading) -> None:
    spool = Spool()
    text = turn.text("hi")
    large = replace(text, headers=(*text.headers, ("big", b"x" * 100_000)))
    wound = spool.add(reading.read(large, 0))
    assert wound is not None
    assert wound.row is not None
    record = spool.record(turn.turn, wound.row["key"])
    assert record is not None
    assert "big" not in dict(record["headers"])


@pytest.mark.parametrize("turn", ["m" + "9" * 60, "m²", "x" * 65, "m-1"])
def test_strange_turn_names_do_no_harm(turn: str, reading) -> None:
    spool = Spool()
    typing = Typing(channel_id="77", turn="m1", sequence=0, active=True)
    new = output("deliveries", typing, channel="77", event_id="x", turn=turn)
    wound = spool.add(reading.read(new, 0))
    assert (wound is None) == (len(turn) > 64)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
_TYPES = st.sampled_from(
    [
        *(
            "MessageReceived",
            "ChunkBatch",
            "RawSlice",
            "RawEnd",
            "SendText",
            "DeliveryReceipt",
            "TurnFinished",
            "Claimed",
        ),
        *(
            "Closed",
            "DeadLetter",
            "StopRequested",
            "GenerationFailed",
            "ProviderRequest",
            "ChannelSnapshot",
            "TimerFired",
        ),
    ]
)
_FIELDS = st.dictionaries(
    st.sampled_from(
        ["author", "content", "chunks", "outcome", "effect", "status", "usage", "target", "error", "text", "emitted"]
    ),
    _JSON,
)
_HEADERS = st.sampled_from(["turn", "generation", "sequence", "channel", "model", "x"])


@given(
    topic=st.sampled_from(["inbox", "claims", "raw", "prompts", "dead-letters"]),
    value=st.none() | st.binary() | (_JSON | _FIELDS).map(lambda content: json.dumps(content).encode()),
    record_type=_TYPES | st.text(max_size=100),
    headers=st.lists(st.tuples(_HEADERS, st.binary(max_size=80))),
    at_ms=st.integers(min_value=-1, max_value=2**53),
)
def test_no_record_is_too_strange(topic, value, record_type, headers, at_ms) -> None:
    spool = Spool()
    all_headers = (("type", record_type.encode("utf-8", "replace")), *headers)
    wound = spool.add(LogRecord(topic, 0, 0, at_ms, None, value, all_headers))
    if wound is None or wound.row is None:
        return
    assert len(wound.row["glance"]) <= 180
    assert "\n" not in wound.row["glance"]
    record = spool.record(wound.turn["turn"], wound.row["key"])
    assert record is not None
    json.dumps([wound.turn, record], allow_nan=False)
