"""What a reply that called tools becomes for the next request, and which replies are told of at all."""

import pytest

from schemas.chunks import (
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FunctionCall,
    FunctionCallChunk,
    ProcessedChunk,
    ProviderError,
    TextChunk,
    ThoughtLogEntry,
)
from schemas.context import FunctionResult, Origin
from schemas.exchanges import exchange_of

ORIGIN = Origin(provider="google", dialect="google", model="gemini-3-flash-preview")
LOOK, CLOCK = FunctionCall(id="1", name="look", args={"what": "x"}), FunctionCall(id="2", name="clock", args={})
RESULT = FunctionResult(call_id="1", name="look", response={"seen": "a cat"})
REPLAY = ({"text": "Let me look."}, {"functionCall": {"name": "look", "args": {"what": "x"}}, "thoughtSignature": "s"})
SAID: tuple[ProcessedChunk, ...] = (
    TextChunk(content="Let me "),
    TextChunk(content="", thoughts=(ThoughtLogEntry(kind="raw", content="hm"),)),
    TextChunk(content="look."),
)
CALLS: tuple[ProcessedChunk, ...] = (FunctionCallChunk(function_call=LOOK), FunctionCallChunk(function_call=CLOCK))
DONE = DoneChunk(metadata=DoneMetadata(finish_reason="tool_calls", replay=REPLAY))
ERROR = ProviderError(type="api_error", code="500", message="it broke", retryable=True)


def test_a_reply_with_calls_is_told_with_its_text_its_calls_and_the_parts_to_send_back() -> None:
    told = exchange_of((*SAID, *CALLS, DONE), (RESULT,), ORIGIN)
    assert told is not None
    assert (told.text, told.calls, told.results) == ("Let me look.", (LOOK, CLOCK), (RESULT,))
    assert (told.replay, told.origin) == (REPLAY, ORIGIN)


@pytest.mark.parametrize(
    "reply",
    [
        (*SAID, DONE),
        (*SAID, *CALLS),
        (*SAID, *CALLS, ErrorChunk(error=ERROR, metadata=DONE.metadata)),
        (*SAID, *CALLS, DoneChunk(metadata=DoneMetadata(stopped=True))),
        (),
    ],
    ids=["no calls", "no end", "failed", "stopped", "nothing"],
)
def test_of_calls_that_may_not_be_run_nothing_is_told(reply: tuple[ProcessedChunk, ...]) -> None:
    assert exchange_of(reply, (RESULT,), ORIGIN) is None
