"""Numbers that JSON cannot write never pass a record, and whole numbers of any size do, from a stream to a provider."""

import json
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.chunks import Dialect, DoneChunk, ErrorChunk, FunctionCallChunk
from schemas.context import NeutralContext
from schemas.errors import InvalidValue
from schemas.inbox import ChunkBatch
from schemas.prompts import CredentialRef, ProviderRequest, StreamDeadlines
from schemas.registry import decode, encode
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.blob_places import take_out
from services.context.render import render
from services.normalizer.endings import EndOfFile
from services.normalizer.stream import StreamNormalizer
from services.provider.native_json import json_bytes
from services.runtime.outputs import output

DIALECTS: dict[Dialect, ProviderName] = {
    "openai-chat": "openrouter",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
}
HUGE = '{"x":1e999,"y":[-1e999]}'
WHOLE = '{"x":123456789012345678901234567890,"y":[1e308,-0.5]}'


def strict(data: bytes | str) -> Any:
    """The JSON; raises ValueError for NaN and Infinity, which Python's reader takes otherwise, and for 1e999."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    def number(text: str) -> float:
        return float(text) if abs(float(text)) != float("inf") else refuse(text)

    return json.loads(data, parse_constant=refuse, parse_float=number)


def stream_of(dialect: Dialect, arguments: str) -> bytes:
    """A reply that calls a tool with these arguments."""
    text = json.dumps(arguments)
    events = {
        "openai-chat": [
            '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":'
            f'{{"name":"t","arguments":{text}}}}}]}}}}]}}',
            '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
            "[DONE]",
        ],
        "openai-responses": [
            '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c",'
            f'"name":"t","arguments":{text}}}}}',
            '{"type":"response.completed","response":{"status":"completed"}}',
        ],
        "anthropic": [
            '{"type":"message_start","message":{"usage":{}}}',
            '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}}',
            '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":' + text + "}}",
            '{"type":"content_block_stop","index":0}',
            '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}',
            '{"type":"message_stop"}',
        ],
        "google": [
            '{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c","name":"t","args":'
            + arguments
            + '}}]},"finishReason":"STOP"}]}'
        ],
    }[dialect]
    return "".join(f"data: {event}\n\n" for event in events).encode()


def batch_of(dialect: Dialect, arguments: str) -> ChunkBatch:
    """The reply as the normalizer writes it, read back from the record."""
    stream = StreamNormalizer(dialect, "m", content_type="text/event-stream")
    chunks = (*stream.feed(stream_of(dialect, arguments)), *stream.flush(EndOfFile()))
    batch = ChunkBatch(turn="m1", generation=1, sequence=0, instance="n", chunks=chunks, end="eof")
    record = output("inbox", batch, channel="1", event_id="batch", turn="m1", generation=1, sequence=0)
    assert record.value is not None
    strict(record.value)
    _, read = decode(record.headers, record.value)
    assert isinstance(read, ChunkBatch)
    return read


@pytest.mark.parametrize("dialect", DIALECTS)
def test_arguments_with_an_infinite_number_are_told_as_unreadable_and_reach_nobody(dialect: Dialect) -> None:
    read = batch_of(dialect, HUGE)
    [call] = [chunk.function_call for chunk in read.chunks if isinstance(chunk, FunctionCallChunk)]
    assert (call.args, call.arguments_truncated) == ({}, True)
    assert [chunk.error.code for chunk in read.chunks if isinstance(chunk, ErrorChunk)] == ["tool_arguments_invalid"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_arguments_reach_the_next_request_with_whole_numbers_of_any_size(dialect: Dialect) -> None:
    read = batch_of(dialect, WHOLE)
    [call] = [chunk.function_call for chunk in read.chunks if isinstance(chunk, FunctionCallChunk)]
    assert isinstance(read.chunks[-1], DoneChunk)
    result = {"call_id": call.id, "name": "t", "response": {"seen": call.args}}
    item = {"role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    context = NeutralContext.model_validate(
        {"items": [item], "function_history": [{"calls": [call], "results": [result]}]}
    )
    made = render(context, Target(DIALECTS[dialect], dialect, ModelFacts("m", has_tools=True)))
    body, _ = take_out(made.body)
    request = ProviderRequest(
        channel_id="1", guild_id=None, turn="m1", generation=2, caused_by="1", dialect=dialect, provider="p", model="m",
        url=made.url, headers=made.headers, body=body, credential=CredentialRef(name="", placement="none"),
        deadlines=StreamDeadlines(),
    )  # fmt: skip
    record = output("prompts", request, channel="1", event_id="prompt", turn="m1", generation=2)
    assert record.value is not None
    _, again = decode(record.headers, record.value)
    assert isinstance(again, ProviderRequest)
    assert strict(record.value)["body"] == body
    sent = json_bytes(again.body)
    assert strict(sent) == body
    assert b"123456789012345678901234567890" in sent


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_a_record_that_another_hand_wrote_with_such_a_number_is_refused(number: str) -> None:
    batch = batch_of("openai-chat", '{"x":"marker"}')
    value = encode(batch).replace(b'"marker"', number.encode())
    record = output("inbox", batch, channel="1", event_id="batch", turn="m1", generation=1, sequence=0)
    with pytest.raises(InvalidValue, match="a number that JSON cannot write"):
        decode(record.headers, value)
    for place in ('"calls":[{"id":"c","name":"t","args":{"x":[%s]}}]', '"calls":[{"id":"c","name":"t","args":{}}],"results":'
                  '[{"call_id":"c","name":"t","response":{"x":{"y":%s}}}]'):  # fmt: skip
        with pytest.raises(ValidationError, match="a number that JSON cannot write"):
            NeutralContext.model_validate_json(f'{{"items":[],"function_history":[{{{place % number}}}]}}')


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_a_body_is_strict_json_of_the_same_value(value: Any) -> None:
    assert strict(json_bytes(value)) == value
