"""What a raw end tells of its call goes on to the orchestrator, and nothing where it tells nothing."""

from schemas.attempts import AttemptFacts, Chosen
from schemas.inbox import ChunkBatch
from schemas.raw import RawEnd, RawOrigin
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
