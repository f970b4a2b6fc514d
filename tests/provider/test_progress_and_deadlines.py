"""Which bytes bring a reply forward, and when silence is too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.prompts import StreamDeadlines
from services.provider.deadlines import Deadlines
from services.provider.progress import ProgressMeter

LIMITS = StreamDeadlines(connect_ms=1_000, first_byte_ms=10_000, idle_ms=2_000, total_ms=15_000)


@pytest.mark.parametrize(
    "kept_alive",
    [
        b": OPENROUTER PROCESSING\n\n",
        b"\n\n\r\n",
        b"data:\n\n",
        b"data:  \r\n\r\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
        b'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n',
        b"event: content_block_delta\n",
        b"id: 7\nretry: 3000\n\n",
        b"",
    ],
)
def test_keep_alives_bring_nothing_forward(kept_alive: bytes) -> None:
    assert not ProgressMeter("text/event-stream; charset=utf-8").feed(kept_alive * 3)


@pytest.mark.parametrize(
    "pieces",
    [
        (b'data: {"choices":[]}\n\n',),
        (b": hi\n\ndata: x\n\n: hi\n",),
        (b"da", b"ta", b":", b" ", b"x"),
        (b"data: x" + b"y" * 1000, b"more of the same line"),
        (b'event: ping\ndata: {"type": "ping"}\n\n' + b"data: x",),
    ],
)
def test_data_bring_the_reply_forward_with_the_last_piece(pieces: tuple[bytes, ...]) -> None:
    meter = ProgressMeter("Text/Event-Stream")
    assert [meter.feed(piece) for piece in pieces][-1]


def test_every_byte_of_a_body_that_is_no_event_stream_counts() -> None:
    assert ProgressMeter("application/json").feed(b"\n")
    assert not ProgressMeter("application/json").feed(b"")


@given(
    st.lists(st.sampled_from([b"\n", b"data:", b" ", b"x", b": c", b"\n\n", b"event: ping"]), max_size=30), st.data()
)
def test_cuts_change_nothing_about_whether_a_body_brings_forward(parts: list[bytes], data: st.DataObject) -> None:
    body = b"".join(parts)
    place = data.draw(st.integers(0, len(body)))
    whole, pieces = ProgressMeter("text/event-stream"), ProgressMeter("text/event-stream")
    assert whole.feed(body) == (pieces.feed(body[:place]) | pieces.feed(body[place:]))


def test_the_first_byte_is_waited_for_longer_than_the_next() -> None:
    deadlines = Deadlines(LIMITS, 100.0)
    assert (deadlines.next, deadlines.overdue) == (110.0, "first_byte_timeout")
    deadlines.progressed(105.0)
    assert (deadlines.next, deadlines.overdue) == (107.0, "idle_timeout")


def test_no_progress_moves_the_total() -> None:
    deadlines = Deadlines(LIMITS, 100.0)
    deadlines.progressed(114.0)
    assert (deadlines.next, deadlines.total, deadlines.overdue) == (115.0, 115.0, "total_timeout")
