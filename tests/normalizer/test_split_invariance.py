"""How the bytes are cut changes nothing, and the same cuts give the same chunks."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from schemas.chunks import Dialect, ProcessedChunk
from services.normalizer.endings import ConnectionReset, EndOfFile, Lost, Stopped
from services.normalizer.stream import StreamNormalizer

CHUNK: TypeAdapter[ProcessedChunk] = TypeAdapter(ProcessedChunk)
DATA = Path(__file__).parent.parent / "data" / "normalizer"
SMALL = [path for path in sorted(DATA.glob("*/*.sse")) if path.stat().st_size < 8000]
ENDINGS = [EndOfFile(), ConnectionReset(), Lost(), Stopped()]


def chunks_of(dialect: Any, pieces: list[bytes], ending: Any) -> list[list[bytes]]:
    stream = StreamNormalizer(dialect, "m")
    batches = [*(stream.feed(piece) for piece in pieces), stream.flush(ending)]
    return [[CHUNK.dump_json(chunk) for chunk in batch] for batch in batches]


def cut(raw: bytes, cuts: list[float]) -> list[bytes]:
    edges = [0, *sorted(int(share * len(raw)) for share in cuts), len(raw)]
    return [raw[start:end] for start, end in itertools.pairwise(edges)]


def joined(dialect: str, pieces: list[bytes], ending: Any) -> dict[str, Any]:
    """The reply joined: text, runs of thoughts, and all chunks of the end."""
    text, runs, rest = "", [], []
    for line in (line for batch in chunks_of(dialect, pieces, ending) for line in batch):
        chunk = json.loads(line)
        text += chunk.get("content", "")
        for thought in chunk.pop("thoughts"):
            if runs and runs[-1][0] == thought["kind"]:
                runs[-1][1] += thought["content"]
            else:
                runs.append([thought["kind"], thought["content"]])
        if chunk["type"] != "text":
            rest.append(chunk)
    assert [chunk["type"] for chunk in rest].count("done") + [chunk["type"] for chunk in rest].count("error") == 1
    return {"text": text, "thoughts": runs, "rest": rest}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SMALL), st.floats(0, 1), st.lists(st.floats(0, 1), max_size=25), st.sampled_from(ENDINGS))
def test_a_stream_cut_anywhere_and_ended_anyhow_gives_the_same_reply(
    path: Path, share: float, cuts: list[float], ending: Any
) -> None:
    raw = path.read_bytes()[: int(share * path.stat().st_size)]
    assert joined(path.parent.name, cut(raw, cuts), ending) == joined(path.parent.name, [raw], ending)


@settings(deadline=None)
@given(st.sampled_from(SMALL), st.lists(st.floats(0, 1), max_size=25))
def test_the_same_feeds_give_equal_chunks(path: Path, cuts: list[float]) -> None:
    pieces = cut(path.read_bytes(), cuts)
    first = chunks_of(path.parent.name, pieces, EndOfFile())
    assert first == chunks_of(path.parent.name, pieces, EndOfFile())


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
def test_a_feed_gives_at_most_one_chunk_of_text(dialect: Dialect, sse: Callable[..., bytes]) -> None:
    stream = StreamNormalizer(dialect, "m")
    if dialect == "openai-chat":
        raw = sse(*({"choices": [{"delta": {"content": "ab", "reasoning": "c"}}]} for _ in range(20)))
    else:
        deltas = [{"type": "text_delta", "text": "ab"}, {"type": "thinking_delta", "thinking": "c"}] * 20
        raw = sse(*({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas))
    (chunk,) = stream.feed(raw)
    assert chunk.type == "text"
    assert chunk.content == "ab" * 20
    assert [entry.content for entry in chunk.thoughts] == ["c" * 20]
