"""A dead letter is the record as it was, within the limits of its topic."""

from schemas.headers import Facts, HeaderReader
from services.runtime.dead_letters import dead_letter
from services.runtime.log import LogRecord

HEADERS = Facts(type="Note", version=1, id="n1", channel="7", turn="m1").headers()


def letter(**changes: object):
    values = {"key": b"7", "value": b"as it was", "headers": HEADERS} | changes
    record = LogRecord("inbox", 3, 41, 1_700, **values)  # type: ignore[arg-type]
    return dead_letter(record, service="orchestrator", reason="poison", message="why", max_bytes=20)


def test_it_keeps_key_value_and_headers_and_says_whence_and_why() -> None:
    new = letter()
    reader = HeaderReader(new.headers)
    assert (new.topic, new.key, new.value) == ("dead-letters", b"7", b"as it was")
    assert reader.facts().id == "dead-letter:orchestrator:inbox/3/41"
    assert reader.need("dead-letter-reason") == "poison"
    assert reader.need("dead-letter-timestamp") == "1700"
    assert reader.need("original-turn") == "m1"
    assert letter() == new


def test_what_is_over_the_limits_is_left_out_and_the_letter_says_so() -> None:
    reader = HeaderReader(letter(value=b"x" * 30).headers)
    assert letter(value=b"x" * 30).value == b"x" * 20
    assert reader.need("dead-letter-cut-at") == "20"
    reader = HeaderReader(letter(key=b"k" * 2_000).headers)
    assert len(letter(key=b"k" * 2_000).key) == 64
    assert reader.need("dead-letter-key-bytes") == "2000"
    giant = letter(headers=(*HEADERS, ("long", b"x" * 40_000)))
    assert HeaderReader(giant.headers).need("dead-letter-headers-left-out") == str(len(HEADERS) + 1)
    assert sum(len(value) for _, value in giant.headers) < 5_000


def test_it_stands_what_has_no_key_no_value_and_empty_headers() -> None:
    new = letter(key=None, value=None, headers=(("empty", None),))
    assert (new.key, new.value) == (b"unknown", None)
    assert HeaderReader(new.headers).need("original-empty") == ""
