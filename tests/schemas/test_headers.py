"""The facts in the headers, and the raw records that consist of headers and bytes."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.attempts import AttemptFacts, Chosen
from schemas.chunks import Dialect
from schemas.errors import BadRecord, HeaderInvalid, HeaderMissing, NewerVersion, UnknownRecordType
from schemas.headers import Facts, HeaderReader, Headers
from schemas.identities import nonce, stream_effect, traceparent, turn_of_message
from schemas.prompts import KnownTool
from schemas.raw import END, ENDINGS, RETRY_HEADERS, SLICE, RawEnd, RawOrigin, RawSlice, parse_raw

TEXTS = st.text(min_size=1, max_size=20)
NUMBERS = st.integers(0, 2**63 - 1)
FACTS = st.builds(
    Facts,
    type=TEXTS,
    version=NUMBERS,
    id=TEXTS,
    channel=TEXTS,
    turn=TEXTS | st.none(),
    generation=NUMBERS | st.none(),
    sequence=NUMBERS | st.none(),
    cause=NUMBERS | st.none(),
    traceparent=TEXTS | st.none(),
    origin=st.sampled_from(["live", "replay"]),
)
ORIGINS = st.builds(
    RawOrigin,
    turn=TEXTS,
    generation=st.integers(1, 2**63 - 1),
    instance=TEXTS,
    dialect=st.sampled_from(get_args(Dialect)),
    model=TEXTS,
    provider=TEXTS | st.just(""),
)


def raw_headers(record: RawSlice | RawEnd) -> Headers:
    """All headers of a raw record, as its writer puts them together."""
    origin = record.origin
    facts = Facts(
        type=SLICE if isinstance(record, RawSlice) else END,
        version=1,
        id="x",
        channel="1",
        turn=origin.turn,
        generation=origin.generation,
        sequence=record.sequence,
    )
    return facts.headers() + record.headers()


@given(FACTS)
def test_facts_read_back_equal(facts: Facts) -> None:
    assert HeaderReader(facts.headers()).facts() == facts


def test_facts_are_readable_text_in_a_fixed_order() -> None:
    facts = Facts(type="SendText", version=1, id="m1/d0", channel="7", turn="m1", sequence=0, cause=12)

    assert facts.headers() == snapshot(
        (
            ("type", b"SendText"),
            ("version", b"1"),
            ("id", b"m1/d0"),
            ("channel", b"7"),
            ("turn", b"m1"),
            ("sequence", b"0"),
            ("cause", b"12"),
            ("origin", b"live"),
        )
    )


def test_the_first_of_equal_headers_counts() -> None:
    reader = HeaderReader([("turn", b"m1"), ("turn", b"m2")])

    assert reader.text("turn") == "m1"


@pytest.mark.parametrize("text", ["-1", "1.0", "١", " 1", "", "9" * 20, "0x1"])
def test_a_number_is_ascii_digits_alone(text: str) -> None:
    with pytest.raises(HeaderInvalid, match="'sequence'"):
        HeaderReader([("sequence", text.encode())]).number("sequence")


PARAMETERS = st.dictionaries(st.text(max_size=9), st.lists(st.sampled_from(["null", "integer"])).map(tuple), max_size=2)
TOOLS = st.lists(
    st.builds(KnownTool, name=st.text(max_size=9), needs_arguments=st.booleans(), texts=PARAMETERS), max_size=3
).map(tuple)


@given(st.builds(RawSlice, origin=ORIGINS, sequence=NUMBERS, http_status=NUMBERS, content_type=st.text(max_size=20),
                 masked=st.booleans(), verbatim_tools=TOOLS))  # fmt: skip
def test_a_slice_reads_back_equal(record: RawSlice) -> None:
    assert parse_raw(HeaderReader(raw_headers(record))) == record


ATTEMPTS = st.none() | st.builds(
    AttemptFacts,
    chosen=st.builds(Chosen, provider=st.text(max_size=9), model=st.text(max_size=9), credential=st.text(max_size=9)),
    droppable=st.lists(st.text(min_size=1, max_size=9), max_size=3).map(tuple),
    images=st.booleans(),
)


@given(st.builds(RawEnd, origin=ORIGINS, sequence=NUMBERS, ending=st.sampled_from(ENDINGS),
                 http_status=NUMBERS | st.none(), retry_after=TEXTS | st.none(), detail=TEXTS | st.none(),
                 retry_hints=TEXTS.map(lambda text: ((RETRY_HEADERS[0], text), (RETRY_HEADERS[-1], text))),
                 attempt=ATTEMPTS))  # fmt: skip
def test_an_end_reads_back_equal(record: RawEnd) -> None:
    assert parse_raw(HeaderReader(raw_headers(record))) == record


def an_end(**changed: object) -> RawEnd:
    origin = RawOrigin(turn="m1", generation=1, instance="provider-0", dialect="anthropic", model="x")
    return RawEnd(**{"origin": origin, "sequence": None, "ending": "lost", **changed})


def test_an_end_without_a_sequence_is_a_lost_one() -> None:
    assert parse_raw(HeaderReader(raw_headers(an_end()))) == an_end()
    with pytest.raises(HeaderInvalid, match="'sequence'"):
        parse_raw(HeaderReader(raw_headers(an_end(ending="eof"))))


def test_a_raw_record_of_before_there_was_a_stamp_has_the_first_rules() -> None:
    stamped = RawOrigin(turn="m1", generation=1, instance="provider-0", dialect="anthropic", model="x", rules_version=3)
    headers = raw_headers(an_end(origin=stamped))

    assert parse_raw(HeaderReader(headers)).origin.rules_version == 3
    left = [header for header in headers if header[0] != "rules"]
    assert parse_raw(HeaderReader(left)).origin.rules_version == 1


@pytest.mark.parametrize("name", ["turn", "generation", "instance", "dialect", "model", "ending"])
def test_a_raw_record_names_the_header_that_it_lacks(name: str) -> None:
    left = [header for header in raw_headers(an_end()) if header[0] != name]

    with pytest.raises(HeaderMissing, match=f"'{name}'"):
        parse_raw(HeaderReader(left))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("dialect", b"martian", HeaderInvalid),
        ("ending", b"martian", HeaderInvalid),
        ("type", b"martian", UnknownRecordType),
        ("version", b"2", NewerVersion),
    ],
)
def test_a_raw_record_refuses_a_word_that_it_does_not_know(name: str, value: bytes, error: type[BadRecord]) -> None:
    changed = [(key, value if key == name else old) for key, old in raw_headers(an_end())]

    with pytest.raises(error, match=name):
        parse_raw(HeaderReader(changed))


def test_a_raw_record_of_an_earlier_release_names_no_provider() -> None:
    record = an_end(origin=RawOrigin("m1", 1, "provider-0", "anthropic", "x", "anthropic"))
    old = [header for header in raw_headers(record) if header[0] != "provider"]
    assert parse_raw(HeaderReader(old)).origin.provider == ""


@pytest.mark.parametrize("value", [b"", b"{", b"[1]", b'{"chosen": 1}', b"null"])
def test_facts_of_an_attempt_that_cannot_be_read_are_refused(value: bytes) -> None:
    with pytest.raises(HeaderInvalid, match="attempt"):
        parse_raw(HeaderReader([*raw_headers(an_end()), ("attempt", value)]))


@pytest.mark.parametrize("value", [b"", b"{", b"[1]", b'[{"name":1}]', b"null"])
def test_tools_that_cannot_be_read_are_refused(value: bytes) -> None:
    record = RawSlice(an_end().origin, 0, 200, "")
    with pytest.raises(HeaderInvalid, match="verbatim-tools"):
        parse_raw(HeaderReader([*raw_headers(record), ("verbatim-tools", value)]))


@given(TEXTS, st.integers(0, 10**9))
def test_a_nonce_fits_discord_and_is_the_same_for_the_same_output(turn: str, sequence: int) -> None:
    assert len(nonce(turn, sequence)) <= 25
    assert nonce(turn, sequence) == nonce(turn, sequence)
    assert nonce(turn, sequence) != nonce(turn, sequence + 1)


def test_identities_name_their_cause() -> None:
    assert turn_of_message("123") == "m123"
    assert stream_effect("m123", 2) == "stream:m123:2"
    assert traceparent("m123", "g1") == snapshot("00-deff67488d35322139975b0484fbc048-800ec331eca45e4d-01")
    assert traceparent("m123", "g1").split("-")[1] == traceparent("m123", "g2").split("-")[1]
