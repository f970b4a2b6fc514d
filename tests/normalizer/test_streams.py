"""The streams of a partition: what a raw end tells of its call goes on, and nothing of one attempt is left to the next."""

import json

import pytest

from schemas.attempts import AttemptFacts, Chosen
from schemas.chunks import ProcessedChunk, TextChunk
from schemas.inbox import ChunkBatch
from schemas.prompts import KnownTool
from schemas.raw import Ending, RawEnd, RawOrigin, RawSlice
from schemas.registry import encode
from services.normalizer.streams import Counted, Streams

ORIGIN = RawOrigin("m1", 1, "provider-0", "openai-chat", "m", "home", 2)
USED = AttemptFacts(chosen=Chosen(provider="home", model="m", credential="openai"), droppable=("top_k",))


def batch_of(end: RawEnd) -> ChunkBatch:
    outcome = Streams[None]().end(end, 0)
    assert isinstance(outcome, Counted)
    return outcome.batch


def test_the_ends_batch_says_what_the_call_used_and_how_it_was_answered() -> None:
    batch = batch_of(RawEnd(ORIGIN, 0, "http_error", http_status=429, attempt=USED))
    assert (batch.attempt, batch.http_status, batch.end) == (USED, 429, "http_error")


def test_a_batch_of_an_end_that_says_nothing_is_written_as_before() -> None:
    batch = batch_of(RawEnd(ORIGIN, 0, "http_error", http_status=429))
    assert b"attempt" not in encode(batch)
    assert b"http_status" not in encode(batch)


TOOLS = (KnownTool(name="roll", needs_arguments=False),)


def attempt(streams: Streams[None], generation: int, *texts: str, ending: Ending) -> list[ProcessedChunk]:
    """The chunks of one provider call that streams these texts and then ends so."""
    origin = RawOrigin("m1", generation, "provider-0", "openai-chat", "m", "custom", 2)
    chunks: list[ProcessedChunk] = []
    for number, text in enumerate(texts):
        payload = json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]})
        raw = RawSlice(origin, number, 200, "text/event-stream", verbatim_tools=TOOLS)
        counted = streams.slice(raw, f"data: {payload}\n\n".encode(), lambda: None)
        assert isinstance(counted, Counted)
        chunks += counted.batch.chunks
    ended = streams.end(RawEnd(origin, len(texts), ending), 0)
    assert isinstance(ended, Counted)
    return [*chunks, *ended.batch.chunks]


def said(chunks: list[ProcessedChunk]) -> str:
    return "".join(chunk.content for chunk in chunks if isinstance(chunk, TextChunk))


HELD_TAILS = {
    "a think block is open": ("<think>half a thought", "Fine. Really."),
    "half a tag is held": ("so <thi", "nk>ok"),
    "reasoning came last": ("<think>hm</think>", "must do.Hello!"),
    "half a written-out call is held": ('`roll({"sides": ', "6})` done"),
    "half a tool's name is held": ("ro", "ll() done"),
    "half a call in Gemma's notation is held": ("<|tool_call>call:roll{", "}<tool_call|> done"),
}
"""What an attempt says before it breaks off, and what the next one says: with anything left of the first it means more."""


@pytest.mark.parametrize(("held", "following"), HELD_TAILS.values(), ids=HELD_TAILS.keys())
@pytest.mark.parametrize("ending", ["reset", "lost", "stopped"])
def test_an_attempt_that_broke_off_inside_a_held_tail_leaves_nothing_to_the_next_one(
    held: str, following: str, ending: Ending
) -> None:
    streams = Streams[None]()
    attempt(streams, 1, held, ending=ending)
    after = attempt(streams, 2, following, ending="eof")
    assert said(after) == following
    assert after == attempt(Streams[None](), 2, following, ending="eof")


@pytest.mark.parametrize(("held", "following"), HELD_TAILS.values(), ids=HELD_TAILS.keys())
def test_within_one_attempt_the_held_tail_does_change_what_follows(held: str, following: str) -> None:
    assert following not in said(attempt(Streams[None](), 1, held, following, ending="eof"))


@pytest.mark.parametrize(("held", "following"), HELD_TAILS.values(), ids=HELD_TAILS.keys())
def test_attempts_whose_records_lie_between_each_others_share_no_guard(held: str, following: str) -> None:
    streams = Streams[None]()
    origin = RawOrigin("m1", 1, "provider-0", "openai-chat", "m", "custom", 2)
    payload = json.dumps({"choices": [{"index": 0, "delta": {"content": held}}]})
    raw = RawSlice(origin, 0, 200, "text/event-stream", verbatim_tools=TOOLS)
    streams.slice(raw, f"data: {payload}\n\n".encode(), lambda: None)
    assert said(attempt(streams, 2, following, ending="eof")) == following
