"""How a record looks in a line, whatever is in it."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.base import Record
from schemas.chunks import TextChunk
from schemas.claims import Claimed
from schemas.headers import Facts, Headers
from schemas.inbox import ChunkBatch
from schemas.raw import RawEnd, RawOrigin, RawSlice
from schemas.stops import OneTurn, StopRequested
from services.cli.printable import printable
from services.cli.tail_lines import Filter, as_json, glance, readable
from services.runtime.dead_letters import dead_letter
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import bare, output

ORIGIN = RawOrigin(turn="m1", generation=1, instance="provider-0", dialect="openai-chat", model="x")


def read(record: NewRecord, *, offset: int = 5, at_ms: int = 1_700_000_000_123) -> LogRecord:
    return LogRecord(record.topic, 3, offset, at_ms, record.key, record.value, record.headers)


def written(topic: str, record: Record, **facts: object) -> LogRecord:
    return read(output(topic, record, channel="7", **{"event_id": "x", **facts}))


def a_slice(value: bytes) -> LogRecord:
    facts = Facts(type="RawSlice", version=1, id="x", channel="7", turn="m1", generation=1, sequence=4)
    return read(bare("raw", value, facts, RawSlice(ORIGIN, 4, 200, "text/event-stream").headers()))


BATCH = ChunkBatch(turn="m1", generation=1, sequence=4, instance="n-0", chunks=(TextChunk(content="Hello there"),))


def test_a_line_tells_time_place_type_turn_generation_sequence_and_what_is_new() -> None:
    line = readable(written("inbox", BATCH, turn="m1", generation=1, sequence=4), colours=False)

    assert line == snapshot(
        '2023-11-14T22:13:20.123Z inbox/3@5 ChunkBatch m1 g1 #4 '
        '{"instance":"n-0","chunks":[{"type":"text","content":"Hello there"}]}'
    )  # fmt: skip


def test_a_record_without_turn_has_dashes() -> None:
    claimed = Claimed(effect="stream:m1:1", instance="provider-0", incarnation="provider-0:a")

    assert readable(written("claims", claimed), colours=False) == snapshot(
        '2023-11-14T22:13:20.123Z claims/3@5 Claimed - - - '
        '{"effect":"stream:m1:1","instance":"provider-0","incarnation":"provider-0:a"}'
    )  # fmt: skip


def test_a_slice_is_its_text_in_one_line() -> None:
    assert glance(a_slice(b'data: {"x":1}\n\ndata: [DONE]\r\n')) == 'data: {"x":1}\\n\\ndata: [DONE]\\r\\n'


def test_an_end_says_how_the_stream_ended() -> None:
    end = RawEnd(ORIGIN, 9, "http_error", http_status=529, detail="overloaded")
    facts = Facts(type="RawEnd", version=1, id="x", channel="7", turn="m1", generation=1, sequence=9)

    assert glance(read(bare("raw", b"", facts, end.headers()))) == "http_error 529 overloaded"


def test_a_dead_letter_says_where_it_lay_and_why() -> None:
    letter = dead_letter(
        a_slice(b"\x00rubbish"), service="normalizer", reason="header_missing", message="header 'model'", max_bytes=100
    )

    assert glance(read(letter)) == "raw/3/5 header_missing: header 'model'"


def test_a_long_value_is_cut() -> None:
    assert glance(a_slice(b"x" * 1_000_000)) == "x" * 100 + "…"
    assert len(glance(written("inbox", BATCH.model_copy(update={"chunks": (TextChunk(content="y" * 90_000),)})))) == 101


def test_a_record_without_headers_says_what_is_wrong() -> None:
    assert glance(LogRecord("inbox", 0, 0, 0, None, b"hello", ())).startswith("(header 'type' is missing")
    assert glance(LogRecord("inbox", 0, 0, 0, None, None, ())) == "(no value)"


HOSTILE = b"\x1b]0;owned\x07\x1b[2J\x9b31m\r\n" + "\u202egnp.exe\u2028\u200b\x85".encode()
HEADERS = st.lists(
    st.tuples(st.sampled_from(["type", "turn", "generation", "sequence", "detail", "ending", "id", "dead-letter-reason"]),
              st.binary(max_size=12) | st.sampled_from([HOSTILE, b"RawSlice", b"RawEnd", b"DeadLetter", b"SendText"]))
).map(tuple)  # fmt: skip
VALUES = st.none() | st.binary(max_size=60) | st.text(max_size=30).map(lambda text: json.dumps({"text": text}).encode())


def harmless(line: str) -> bool:
    return all(unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp") for letter in line) and "\u202e" not in line


@given(headers=HEADERS, value=VALUES, at_ms=st.integers(-(2**63), 2**63 - 1))
def test_nothing_in_a_record_reaches_a_terminal_as_a_control(headers: Headers, value: bytes | None, at_ms: int) -> None:
    record = LogRecord("inbox", 0, 0, at_ms, HOSTILE, value, headers)

    assert harmless(readable(record, colours=False))
    assert harmless(as_json(record))
    json.loads(as_json(record))


def test_hostile_text_is_shown_as_escapes() -> None:
    assert printable(HOSTILE.decode("utf-8", "replace")) == snapshot(
        "\\x1b]0;owned\\x07\\x1b[2J\ufffd31m\\r\\n\\u202egnp.exe\\u2028\\u200b\\x85"
    )


@pytest.mark.parametrize("text", ["plain", "Grüße, 世界", "👩‍💻 🏳️‍🌈"])
def test_letters_and_emoji_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def test_deep_json_is_shown_as_text() -> None:
    deep = b'{"a":' + b"[" * 3_000 + b"]" * 3_000 + b"}"
    facts = Facts(type="ChannelSnapshot", version=1, id="x", channel="7")
    record = LogRecord("channels", 0, 0, 0, b"7", deep, facts.headers())

    assert glance(record).startswith('{"a":[[[')
    assert json.loads(as_json(record))["value"]


def test_json_carries_the_whole_value() -> None:
    batch = json.loads(as_json(written("inbox", BATCH, turn="m1")))
    bytes_ = json.loads(as_json(a_slice(b"data: \xff")))

    assert batch["value"] == BATCH.model_dump(mode="json")
    assert batch["headers"]["turn"] == "m1"
    assert (batch["topic"], batch["partition"], batch["offset"], batch["key"]) == ("inbox", 3, 5, "7")
    assert bytes_["value_base64"] == "ZGF0YTog/w=="
    assert json.loads(as_json(a_slice(b'{"x":1}')))["value"] == '{"x":1}'


def test_a_filter_takes_records_of_a_channel_and_of_a_turn_also_where_only_the_id_names_it() -> None:
    stop = StopRequested(channel_id="7", stop_id="9", target=OneTurn(turn="m1"), manner="kill", requested_by="1")
    record = written("inbox", stop, turn="m1")
    claim = written(
        "claims", Claimed(effect="stream:m1:1", instance="p", incarnation="p:1"), event_id="stream:m1:1:claimed:p:1"
    )

    assert Filter(0, channel="7").takes(record)
    assert not Filter(0, channel="8").takes(record)
    assert Filter(0, turn="m1").takes(record)
    assert Filter(0, turn="m1").takes(claim)
    assert not Filter(0, turn="m").takes(claim)
    assert not Filter(record.timestamp_ms + 1).takes(record)
