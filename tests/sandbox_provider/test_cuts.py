"""Bytes leave in the pieces that a script asks for, seen as HTTP chunks on a bare socket."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.provider.dialects.base import Head
from services.sandbox.provider.dialects.openai_chat import OPENAI_CHAT
from services.sandbox.provider.performance import Wait, Write, perform_recording, split_deltas
from services.sandbox.provider.script import (
    AtBytes,
    EachEvent,
    EveryBytes,
    Pause,
    Recording,
    Script,
    Stream,
    Text,
    Whole,
)

STREAMS = Path(__file__).parent.parent / "data" / "streams"


async def chunks_of(sandbox, request) -> list[bytes]:
    reader, writer = await asyncio.open_connection(sandbox.address.host, sandbox.address.port)
    body = json.dumps(request.body).encode()
    headers = {**request.headers, "host": "sandbox", "content-length": str(len(body)), "connection": "close"}
    lines = [f"POST {request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await reader.readuntil(b"\r\n\r\n")
    chunks = []
    while size := int((await reader.readline()).strip(), 16):
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
    writer.close()
    await writer.wait_closed()
    return chunks


@pytest.mark.parametrize("path", sorted(STREAMS.glob("*/*.sse")), ids=lambda p: f"{p.parent.name}/{p.stem}")
async def test_a_recording_is_played_byte_for_byte(sandbox, path):
    body = path.read_bytes()
    sandbox.provider.enqueue(Script(Recording(body)))
    chunks = await chunks_of(sandbox, sandbox.native(path.parent.name, "hi"))
    assert b"".join(chunks) == body
    assert all(chunk.endswith((b"\n\n", b"\r\n\r\n")) for chunk in chunks)


async def test_each_event_is_its_own_write_unless_told_otherwise(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text(("a", "b", "c")),))))
    chunks = await chunks_of(sandbox, sandbox.native(dialect, "hi"))
    assert all(chunk.count(b"data: ") == 1 for chunk in chunks)


async def test_writes_end_at_the_given_bytes(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream(cuts=AtBytes((1, 5, 6, 300)))))
    chunks = await chunks_of(sandbox, sandbox.native(dialect, "hi"))
    assert [len(chunk) for chunk in chunks[:4]] == [1, 4, 1, 294]
    assert len(chunks) == 5


async def test_writes_of_a_few_bytes_each(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream((Text("abc"),), cuts=EveryBytes(7))))
    chunks = await chunks_of(sandbox, sandbox.native(dialect, "hi"))
    assert {len(chunk) for chunk in chunks[:-1]} == {7}


async def test_a_whole_reply_is_one_write_and_a_pause_makes_it_two(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream(cuts=Whole())))
    sandbox.provider.enqueue(Script(Stream((Text("abc"), Pause(1), Text("def")), cuts=Whole())))
    request = sandbox.native(dialect, "hi")
    assert len(await chunks_of(sandbox, request)) == 1
    assert len(await chunks_of(sandbox, request)) == 2


async def test_a_stream_stops_after_the_given_bytes(sandbox, dialect):
    sandbox.provider.enqueue(Script(Stream(stop_after_bytes=100)))
    sandbox.provider.enqueue(Script(Stream(stop_after_bytes=0)))
    request = sandbox.native(dialect, "hi")
    assert len(b"".join(await chunks_of(sandbox, request))) == 100
    assert await chunks_of(sandbox, request) == []


CUTS = st.one_of(
    st.just(EachEvent()),
    st.just(Whole()),
    st.builds(EveryBytes, st.integers(1, 40)),
    st.builds(AtBytes, st.lists(st.integers(1, 300), max_size=6).map(tuple)),
)


@given(body=st.binary(max_size=300) | st.text("a\r\n", max_size=80).map(str.encode), cuts=CUTS)
def test_no_cut_loses_or_adds_a_byte(body, cuts):
    encoder = OPENAI_CHAT.encoder(Head(1, "m", 0, 0, wants_usage=False))
    acts = list(perform_recording(Recording(body, cuts=cuts), encoder, pace_ms=3))
    writes = [act.data for act in acts if isinstance(act, Write)]
    assert b"".join(writes) == body
    assert all(writes)
    for one, other in pairwise(acts):
        assert Wait(3) in (one, other), "two writes without a wait between them could arrive as one"


@given(st.text())
def test_deltas_join_to_the_text(text):
    assert "".join(split_deltas(text)) == text
