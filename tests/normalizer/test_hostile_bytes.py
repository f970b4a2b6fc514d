"""No bytes make the normalizer raise, publish a lone surrogate, or work longer than in proportion."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from schemas.chunks import ProcessedChunk
from services.normalizer.endings import EndOfFile
from services.normalizer.stream import StreamNormalizer

CHUNK: TypeAdapter[ProcessedChunk] = TypeAdapter(ProcessedChunk)
DIALECTS = ["openai-chat", "openai-responses", "anthropic", "google", "novelai"]
WORDS = [
    *("choices", "delta", "content", "tool_calls", "function", "arguments", "index", "id", "name", "finish_reason"),
    *("usage", "error", "message", "code", "type", "text", "thinking", "signature", "partial_json", "content_block"),
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "input"),
    *("tool_use", "text_delta", "thinking_delta", "input_json_delta", "signature_delta", "stop_reason", "stop", "m"),
    *(
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "reasoning_text",
        "thinking_blocks",
        "reasoning.text",
        "refusal",
        "object",
        "provider",
        "x_groq",
    ),
    *(
        "item",
        "output",
        "output_index",
        "function_call",
        "custom_tool_call",
        "reasoning",
        "message",
        "call_id",
        "summary",
    ),
    *(
        "parts",
        "functionCall",
        "partialArgs",
        "jsonPath",
        "stringValue",
        "willContinue",
        "$.a",
        "$.a[0]",
        "$.a[0].b",
        "args",
    ),
    *(
        "thought",
        "thoughtSignature",
        "executableCode",
        "candidates",
        "usageMetadata",
        "token",
        "final",
        "executed_tools",
    ),
    *("prompt_tokens", "completion_tokens", "model", "metadata", "raw", "innererror", "redacted_thinking", "data"),
]
atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 3),
    st.floats(),
    st.sampled_from(WORDS),
    st.sampled_from(["", "{", "{}", '{"a":1}', "\ud83c", "\udf0d", "null", "[1]", "x\ud83c", '{"a": 1e999}', "NaN"]),
    st.text(max_size=5),
)
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)


def end_to_end(dialect: Any, raw: bytes, step: int) -> list[Any]:
    stream = StreamNormalizer(dialect, "m")
    chunks = [chunk for at in range(0, len(raw), step) for chunk in stream.feed(raw[at : at + step])]
    chunks += stream.flush(EndOfFile())
    assert [chunk.type for chunk in chunks if chunk.type in ("done", "error")] == [chunks[-1].type]
    for chunk in chunks:
        json.loads(CHUNK.dump_json(chunk))
    assert stream.feed(raw) == []
    assert stream.flush(EndOfFile()) == []
    return chunks


@settings(deadline=None)
@given(st.sampled_from(DIALECTS), st.binary(max_size=300), st.integers(1, 50))
def test_random_bytes_end_in_one_terminal_chunk(dialect: str, raw: bytes, step: int) -> None:
    end_to_end(dialect, raw, step)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(DIALECTS), st.lists(values, max_size=5), st.sampled_from([b"", b"event: error\n", b"event: x\n"])
)
def test_payloads_of_any_shape_end_in_one_terminal_chunk(dialect: str, payloads: list[Any], name: bytes) -> None:
    raw = b"".join(name + b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)
    end_to_end(dialect, raw, 1000)


shaped_chat = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "index": values,
                    "delta": st.dictionaries(st.sampled_from(WORDS), values, max_size=6) | values,
                    "finish_reason": values,
                    "usage": values,
                },
            ),
            max_size=2,
        ),
        "usage": values,
        "error": values,
        "model": values,
    },
)
shaped_anthropic = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
        )
    },
    optional={
        "index": st.integers(0, 2) | values,
        "delta": st.dictionaries(st.sampled_from(WORDS), values, max_size=6),
        "content_block": st.dictionaries(st.sampled_from(WORDS), values, max_size=6),
        "message": values,
        "usage": values,
    },
)


shaped_responses = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.output_text.done",
                "response.reasoning_text.done",
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                "response.custom_tool_call_input.done",
                "response.created",
            ]
        )
    },
    optional={
        "output_index": st.integers(-1, 2) | values,
        "content_index": values,
        "delta": values,
        "text": values,
        "arguments": values,
        "item": st.fixed_dictionaries(
            {"type": st.sampled_from(["message", "reasoning", "function_call", "custom_tool_call", "web_search_call"])},
            optional={"content": values, "summary": values, "arguments": values, "call_id": values, "name": values},
        )
        | values,
        "response": st.dictionaries(st.sampled_from(["output", "usage", "model", "error", "status"]), values) | values,
    },
)
shaped_call = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["f", "g"]) | values,
        "args": values,
        "id": values,
        "willContinue": st.booleans() | values,
        "partialArgs": st.lists(
            st.fixed_dictionaries(
                {"jsonPath": st.sampled_from(["$.a", "$.a[0]", "$.a[0].b", "$.a.b", "$[0]", "$", "$.a[2]"])},
                optional={
                    "stringValue": st.text(max_size=2) | values,
                    "numberValue": values,
                    "willContinue": st.booleans(),
                },
            )
            | values,
            max_size=3,
        ),
    },
)
shaped_google = st.fixed_dictionaries(
    {
        "candidates": st.lists(
            st.fixed_dictionaries(
                {
                    "content": st.fixed_dictionaries(
                        {
                            "parts": st.lists(
                                st.fixed_dictionaries(
                                    {},
                                    optional={
                                        "functionCall": shaped_call | values,
                                        "text": values,
                                        "thought": values,
                                        "thoughtSignature": values,
                                        "toolCall": values,
                                    },
                                )
                                | values,
                                max_size=3,
                            )
                        }
                    )
                    | values
                },
                optional={"index": values, "finishReason": values, "finishMessage": values},
            )
            | values,
            max_size=2,
        )
    },
    optional={"usageMetadata": values, "promptFeedback": values, "error": values, "modelVersion": values},
)


@settings(max_examples=100, deadline=None)
@given(st.lists(shaped_responses, max_size=6))
def test_odd_values_in_responses_events_end_in_one_terminal_chunk(payloads: list[Any]) -> None:
    raw = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in payloads)
    end_to_end("openai-responses", raw, 1000)


@settings(max_examples=100, deadline=None)
@given(st.lists(shaped_google, max_size=6))
def test_odd_values_in_google_chunks_end_in_one_terminal_chunk(payloads: list[Any]) -> None:
    end_to_end("google", b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in payloads), 1000)


@settings(max_examples=100, deadline=None)
@given(st.lists(shaped_chat, max_size=6))
def test_odd_values_in_chat_chunks_end_in_one_terminal_chunk(payloads: list[Any]) -> None:
    end_to_end("openai-chat", b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in payloads), 1000)


@settings(max_examples=100, deadline=None)
@given(st.lists(shaped_anthropic, max_size=6))
def test_odd_values_in_messages_events_end_in_one_terminal_chunk(payloads: list[Any]) -> None:
    end_to_end("anthropic", b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in payloads), 1000)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "payload",
    [
        b"[" * 100_000,
        b'{"choices":' + b"[" * 100_000,
        b'{"error":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}",
        b'{"usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}",
        b'{"type": "error", "error": {"message": {"message": []}}}',
        b"\xff\xfe\xfd",
        b'{"model": "\xff"}',
    ],
)
def test_payloads_that_hurt_parsers_end_in_one_terminal_chunk(dialect: str, payload: bytes) -> None:
    end_to_end(dialect, b"data: " + payload + b"\n\n", 4096)


def test_arguments_nested_too_deeply_are_not_run(chat: Callable[..., Any]) -> None:
    deep = '{"a":' * 150 + "1" + "}" * 150
    reply = chat({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": deep}}]})
    assert reply.error.code == "tool_arguments_invalid"
    assert reply.calls[0].arguments_truncated
    assert reply.calls[0].raw_arguments == deep


def test_the_halves_of_a_pair_in_two_deltas_are_one_character(chat: Callable[..., Any]) -> None:
    reply = chat(
        {"content": "a\ud83c", "reasoning": "x\ud83c"},
        {"content": "\udf0db\udf0d", "reasoning": "\udf0d"},
        {"content": "c\ud83c"},
        {"content": "d\ud83c"},
    )
    assert reply.text == "a🌍b�c�d�"
    assert reply.thinking == "x🌍"


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("openai-chat", rb'{"choices":[{"error":{"message":"a \ud800"}}]}'),
        ("openai-chat", rb'{"error":{"message":"a \ud800"}}'),
        ("openai-responses", rb'{"type":"response.failed","response":{"error":{"code":"x","message":"a \ud800"}}}'),
        ("openai-responses", rb'{"type":"response.completed","response":{"error":{"code":"x","message":"a \ud800"}}}'),
        ("openai-responses", rb'{"type":"response.incomplete","response":{"error":{"code":"x","message":"a \ud800"}}}'),
        ("openai-responses", rb'{"type":"error","message":"a \ud800"}'),
        ("anthropic", rb'{"type":"error","error":{"type":"x","message":"a \ud800"}}'),
        ("google", rb'{"error":{"message":"a \ud800","code":500}}'),
        ("novelai", rb'{"error":{"message":"a \ud800"}}'),
    ],
)
def test_an_error_with_half_of_a_pair_is_told_as_an_error(dialect: Any, payload: bytes) -> None:
    chunks = StreamNormalizer(dialect, "m").feed(b"data: " + payload + b"\n\n")
    assert [chunk.type for chunk in chunks] == ["error"]
    told = CHUNK.dump_json(chunks[0])
    assert b"a \xef\xbf\xbd" in told


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("openai-chat", b'{"choices":[{"index":0,"delta":{"content":"hi"}}],"usage":{"prompt_tokens":%s}}'),
        ("openai-responses", b'{"type":"response.output_text.delta","delta":"hi","logprobs":%s,"sequence_number":%s}'),
        ("anthropic", b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"},"usage":%s}'),
        ("google", b'{"candidates":[{"content":{"parts":[{"text":"hi"}]}}],"usageMetadata":{"totalTokenCount":%s}}'),
    ],
)
def test_a_number_of_five_thousand_digits_costs_only_itself(dialect: Any, payload: bytes) -> None:
    number = b"9" * 5000
    stream = StreamNormalizer(dialect, "m")
    chunks = stream.feed(b"data: " + payload.replace(b"%s", number) + b"\n\n")
    assert [(chunk.type, getattr(chunk, "content", None)) for chunk in chunks] == [("text", "hi")]
    end = stream.flush(EndOfFile())[-1]
    assert end.usage is None or end.usage.total_tokens is None
    CHUNK.dump_json(end)


NESTED: list[tuple[str, str]] = [
    ("openai-chat", '{"error":{"message":%s}}'),
    ("openai-chat", '{"choices":[{"error":%s}]}'),
    (
        "openai-chat",
        '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":%s}}]}}]}',
    ),
    ("openai-chat", '{"choices":[{"delta":{"content":%s,"reasoning_details":[%s]}}]}'),
    ("openai-responses", '{"type":"response.failed","response":{"error":%s}}'),
    ("openai-responses", '{"type":"response.completed","response":{"output":[%s],"usage":%s}}'),
    (
        "anthropic",
        '{"type":"message_start","message":{"content":[{"type":"tool_use","name":"f","input":%s}],"usage":%s}}',
    ),
    ("google", '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":%s}}, {"inlineData":%s}]}}]}'),
    *(
        (
            "google",
            '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"g":%s},"willContinue":true,'
            f'"partialArgs":[{{"jsonPath":"{path}","{kind}":%s}}]}}}}]}}}}]}}',
        )
        for path in ("$.b", "$" + ".b" * 64)
        for kind in ("numberValue", "stringValue")
    ),
    ("novelai", '{"message":%s}'),
]


@pytest.mark.parametrize(("dialect", "payload"), NESTED)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_values_nested_to_about_what_can_be_read_end_in_one_terminal_chunk(
    dialect: str, payload: str, opening: str, closing: str
) -> None:
    limit = 1000 // len(closing)
    for depth in (*range(limit // 4, limit, limit // 40), *range(limit - 60, limit + 10)):
        value = f"{opening * depth}1{closing * depth}"
        end_to_end(dialect, f"data: {payload.replace('%s', value)}\n\n".encode(), 1_000_000)
