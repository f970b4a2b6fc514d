"""Every record type: it survives the log, and readers in other languages can check it."""

from collections.abc import Callable

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.base import Record
from schemas.errors import (
    BadRecord,
    HeaderInvalid,
    HeaderMissing,
    InvalidValue,
    NewerVersion,
    UnknownRecordType,
)
from schemas.export import schema_of
from schemas.headers import Facts, Headers
from schemas.registry import RECORD_TYPES, decode, encode
from schemas.stops import TurnInterrupted

EVERY_TYPE = pytest.mark.parametrize("model", RECORD_TYPES.values(), ids=RECORD_TYPES.keys())
LAX = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def headers(record_type: str = "TurnInterrupted", version: int = 1) -> Headers:
    return Facts(type=record_type, version=version, id="x", channel="1").headers()


@EVERY_TYPE
def test_a_record_reads_back_equal_and_fits_its_exported_schema(
    model: type[Record], instances: Callable[[type[Record]], st.SearchStrategy[Record]]
) -> None:
    validator = jsonschema.Draft202012Validator(schema_of(model))

    @LAX
    @given(instances(model))
    def holds(record: Record) -> None:
        facts, again = decode(headers(model.__name__, model.version), encode(record))
        assert again == record
        assert facts.type == model.__name__
        validator.validate(record.model_dump(mode="json"))

    holds()


@EVERY_TYPE
def test_a_reader_stands_fields_that_it_does_not_know(
    model: type[Record], instances: Callable[[type[Record]], st.SearchStrategy[Record]]
) -> None:
    @LAX
    @given(instances(model))
    def holds(record: Record) -> None:
        newer = encode(record)[:-1] + b',"added_later":{"x":1}}'
        assert decode(headers(model.__name__, model.version), newer)[1] == record

    holds()


GOOD = encode(TurnInterrupted(channel_id="1", turn="m1", reason="deadline"))


@pytest.mark.parametrize(
    ("given_headers", "value", "error", "names"),
    [
        pytest.param((), GOOD, HeaderMissing, "'type'", id="no headers"),
        pytest.param(headers()[1:], GOOD, HeaderMissing, "'type'", id="no type"),
        pytest.param(headers()[:1] + headers()[2:], GOOD, HeaderMissing, "'version'", id="no version"),
        pytest.param(headers()[:3] + headers()[4:], GOOD, HeaderMissing, "'channel'", id="no channel"),
        pytest.param((("version", b"one"), *headers()), GOOD, HeaderInvalid, "'version'", id="a version in words"),
        pytest.param((("version", b"-1"), *headers()), GOOD, HeaderInvalid, "'version'", id="a negative version"),
        pytest.param((("id", b"\xff"), *headers()), GOOD, HeaderInvalid, "'id'", id="an id that is no UTF-8"),
        pytest.param((*headers()[:-1], ("origin", b"dream")), GOOD, HeaderInvalid, "'origin'", id="an unknown origin"),
        pytest.param(headers("Sonnet"), GOOD, UnknownRecordType, "'Sonnet'", id="an unknown type"),
        pytest.param(headers(version=2), GOOD, NewerVersion, "version 2", id="a newer version"),
        pytest.param(headers(), None, InvalidValue, "no value", id="no value"),
        pytest.param(headers(), b"data: hello", InvalidValue, "value", id="not JSON"),
        pytest.param(headers(), b"[1]", InvalidValue, "value", id="JSON, but no object"),
        pytest.param(headers(), b"\xff", InvalidValue, "value", id="no UTF-8"),
        pytest.param(headers(), b'{"channel_id":"1","turn":"m1"}', InvalidValue, "reason", id="a field is missing"),
        pytest.param(headers(), GOOD.replace(b"deadline", b"mood"), InvalidValue, "reason", id="an unknown choice"),
        pytest.param(headers(), GOOD.replace(b'"1"', b"1"), InvalidValue, "channel_id", id="a number for a snowflake"),
        pytest.param(headers(), GOOD.replace(b'"m1"', b'""'), InvalidValue, "turn", id="an empty turn"),
        pytest.param(headers("SendText"), GOOD, InvalidValue, "text", id="another type's value"),
    ],
)
def test_what_is_wrong_with_a_record_is_named(
    given_headers: Headers, value: bytes | None, error: type[BadRecord], names: str
) -> None:
    with pytest.raises(error, match=names):
        decode(given_headers, value)


def test_an_error_does_not_repeat_what_a_user_wrote() -> None:
    with pytest.raises(InvalidValue) as caught:
        decode(headers(), GOOD.replace(b"deadline", b"my secret words"))

    assert "secret" not in str(caught.value)


def test_every_bad_record_has_a_reason_of_its_own() -> None:
    reasons = [error.reason for error in BadRecord.__subclasses__()]

    assert len(set(reasons)) == len(reasons)
    assert BadRecord.reason not in reasons


@given(st.binary(max_size=200), st.lists(st.tuples(st.sampled_from(["type", "version", "id", "channel", "turn", "cause"]),
                                                    st.binary(max_size=20) | st.none())))  # fmt: skip
def test_hostile_bytes_are_a_bad_record_and_nothing_worse(
    value: bytes, given_headers: list[tuple[str, bytes | None]]
) -> None:
    with pytest.raises(BadRecord):
        decode(given_headers, value)


def test_deeply_nested_json_is_a_bad_record() -> None:
    with pytest.raises(InvalidValue):
        decode(headers("ChannelSnapshot"), b'{"state":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}")
