"""Framing follows the HTML standard, whatever the cuts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.normalizer.sse import SseParser
from services.normalizer.sse_event import SseEvent


def events_of(*pieces: bytes, close: bool = False) -> list[tuple[bytes, bytes]]:
    parser = SseParser()
    found: list[SseEvent] = [event for piece in pieces for event in parser.feed(piece)]
    return [(event.name, event.data) for event in [*found, *(parser.close() if close else [])]]


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a\ndata\ndata:\n\n", [b"a\n\n"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data:\n\n", [b""]),
        (b"data\n\n", [b""]),
        (b"data: a: b\n\n", [b"a: b"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b": comment\n\ndata: a\n\n", [b"a"]),
        (b"id: 1\n\nretry: 5\n\nevent: x\n\ndata: a\n\n", [b"a"]),
        (b"id: 1\nfoo: bar\nfoo\ndata: a\nretry: x\n\n", [b"a"]),
        (b" data: a\n\nDATA: a\n\n", []),
        ("data: a\u2028b\u0085c\x0bd\n\n".encode(), ["a\u2028b\u0085c\x0bd".encode()]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_events_are_the_same_whole_and_byte_by_byte(raw: bytes, data: list[bytes]) -> None:
    assert [found for _, found in events_of(raw)] == data
    assert [found for _, found in events_of(*(raw[at : at + 1] for at in range(len(raw))))] == data


def test_an_event_name_holds_for_its_own_block_only() -> None:
    assert events_of(b"event: error\ndata: a\n\nevent:x\n\ndata: b\n\n") == [(b"error", b"a"), (b"", b"b")]


def test_an_id_holds_until_the_next_and_one_with_a_nul_is_ignored() -> None:
    parser = SseParser()
    events = parser.feed(b"id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid: 3\n\ndata: d\n\nid\ndata: e\n\n")
    assert [event.last_id for event in events] == [b"1", b"1", b"1", b"3", b""]


@pytest.mark.parametrize(
    ("said", "milliseconds"),
    [(b"10", 10), (b"0", 0), (b"", None), (b"1x", None), (b"-1", None), (b"1.5", None), (b"9" * 5000, int("9" * 18))],
)
def test_the_time_to_wait_before_connecting_again_is_a_number_of_digits(said: bytes, milliseconds: int | None) -> None:
    parser = SseParser()
    parser.feed(b"retry: " + said + b"\n\n")
    assert parser.retry_ms == milliseconds


def test_a_carriage_return_ends_its_line_at_once() -> None:
    assert events_of(b"data: a\r\r") == [(b"", b"a")]
    assert events_of(b"data: a\r", b"\r", b"\ndata: b\n\n") == [(b"", b"a"), (b"", b"b")]


def test_a_character_may_be_cut_between_reads() -> None:
    raw = "data: é🌍\n\n".encode()
    assert events_of(raw[:7], raw[7:10], raw[10:]) == [(b"", "é🌍".encode())]


def test_the_last_event_counts_without_its_blank_line() -> None:
    assert events_of(b"data: a\n\ndata: b", close=True) == [(b"", b"a"), (b"", b"b")]
    assert events_of(b"event: x\ndata: a\ndata: b\n", close=True) == [(b"x", b"a\nb")]
    assert events_of(b"data: a\n\n", close=True) == [(b"", b"a")]
    assert events_of(b"\xef\xbb", close=True) == []


def test_comments_and_blocks_without_data_count_as_keep_alives() -> None:
    parser = SseParser()
    parser.feed(b": ping\n\nretry: 5\n\ndata: a\n\n\n: ping\n")
    assert (parser.events, parser.keep_alives) == (1, 3)


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_an_event_over_the_limit_stops_the_parser_at_the_same_place(step: int) -> None:
    raw = b"data: a\n\n" + b"data: " + b"x" * 14 + b"\n\n" + b"data: 1234567890\ndata: 1234567890\n\ndata: b\n\n"
    parser = SseParser(max_event_bytes=20)
    found = [event.data for at in range(0, len(raw), step) for event in parser.feed(raw[at : at + step])]
    assert found == [b"a", b"x" * 14]
    assert parser.overflowed
    assert parser.close() == []


def test_a_line_without_an_end_is_refused_at_the_limit() -> None:
    parser = SseParser(max_event_bytes=1000)
    assert [parser.feed(b"y" * 100) for _ in range(11)] == [[]] * 11
    assert parser.overflowed


lines = st.sampled_from(
    [b"data: a", b"data:b", b"data", b"event: e", b": c", b"id: 1", b"junk", b"", b"\xef\xbb\xbf", "data: é".encode()]
)
ends = st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b""])


@settings(deadline=None)
@given(st.lists(st.tuples(lines, ends), max_size=30), st.lists(st.integers(0, 400), max_size=40), st.integers(4, 40))
def test_any_cut_of_any_stream_gives_the_same_events(
    parts: list[tuple[bytes, bytes]], cuts: list[int], limit: int
) -> None:
    raw = b"".join(line + end for line, end in parts)
    whole, pieces = SseParser(limit), SseParser(limit)
    edges = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    found = [event for start, end in itertools.pairwise(edges) for event in pieces.feed(raw[start:end])]
    assert found == whole.feed(raw)
    assert pieces.overflowed == whole.overflowed
    assert pieces.close() == whole.close()
    if not whole.overflowed:
        assert (pieces.events, pieces.keep_alives) == (whole.events, whole.keep_alives)


JSON = b'{\n  "error": {\n    "code": 429\n  }\n}'


@pytest.mark.parametrize(
    "raw",
    [
        b"data: a\n\n" + JSON + b"\n\ndata: b\n\n",
        b"data: a\n\n" + JSON + b"\ndata: b\n\n",
        b"data: a\n\n: ping\n" + JSON.replace(b"\n", b"\r\n") + b"\r\n\r\ndata: b\r\n\r\n",
    ],
)
def test_json_between_events_is_told_in_its_place_and_apart(raw: bytes) -> None:
    for step in (1, 7, len(raw)):
        parser = SseParser()
        found = [event for at in range(0, len(raw), step) for event in parser.feed(raw[at : at + step])]
        assert [(event.data, event.unframed) for event in found] == [(b"a", False), (JSON, True), (b"b", False)]
        assert parser.events == 2


def test_json_that_nothing_ends_is_told_at_the_close_and_one_inside_an_event_is_ignored() -> None:
    assert events_of(b"data: a\n\n", b'{"x"', b": 1}", close=True) == [(b"", b"a"), (b"", b'{"x": 1}')]
    assert events_of(b'data: a\n{"x": 1}\n\n') == [(b"", b"a")]


def test_endless_json_between_events_is_not_kept() -> None:
    parser = SseParser()
    for _ in range(3):
        assert parser.feed(b'{"x":\n' * 10_000) == []
    assert parser.feed(b"\ndata: b\n\n") == [SseEvent(b"", b"b")]


def test_a_field_named_error_with_an_object_is_an_error_event() -> None:
    assert events_of(b'error: {"code":400}\n\n', b"error: words\n\n") == [(b"error", b'{"code":400}')]
