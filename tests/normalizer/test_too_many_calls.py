"""A reply with more calls than one may have ends as an error, whoever made them calls, and wherever the bytes are cut."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from schemas.chunks import Dialect, ErrorChunk, FunctionCallChunk, TextChunk
from schemas.prompts import KnownTool
from services.normalizer.endings import EndOfFile
from services.normalizer.stream import StreamNormalizer
from services.normalizer.tool_calls import MAX_CALLS

KNOWN = (KnownTool(name="f", needs_arguments=False),)
GLM, GEMMA, VERBATIM = "<tool_call>f</tool_call>", "<|tool_call>call:f{}<tool_call|>", "f() "


def chat(*deltas: dict[str, Any]) -> list[object]:
    return [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]


def anthropic_block(index: int) -> list[object]:
    block = {"type": "tool_use", "id": f"t{index}", "name": "f", "input": {}}
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        {"type": "content_block_stop", "index": index},
    ]


def item(index: int) -> dict[str, object]:
    call = {"type": "function_call", "id": f"i{index}", "call_id": f"c{index}", "name": "f", "arguments": "{}"}
    return {"type": "response.output_item.added", "output_index": index, "item": call}


def payloads(kind: str, calls: int) -> list[object]:
    match kind:
        case "glm":
            return [{"token": "a" + GLM * calls, "ptr": 0}, {"token": "b", "ptr": 1}]
        case "gemma":
            return chat({"content": "a" + GEMMA * calls}, {"content": "b"})
        case "verbatim":
            return chat({"content": "a " + VERBATIM * calls}, {"content": "b"})
        case "openai-chat":
            slots = [{"index": slot, "function": {"name": "f", "arguments": "{}"}} for slot in range(calls)]
            return chat({"content": "a"}, {"tool_calls": slots}, {"content": "b"})
        case "anthropic":
            return [payload for index in range(calls) for payload in anthropic_block(index)]
        case "openai-responses":
            return [item(index) for index in range(calls)]
        case _:
            parts = [{"functionCall": {"name": "f", "args": {}}}] * calls
            return [{"candidates": [{"content": {"parts": [{"text": "a"}, *parts]}}]}]


DIALECT: dict[str, Dialect] = {
    "glm": "novelai",
    "gemma": "openai-chat",
    "verbatim": "openai-chat",
    "openai-chat": "openai-chat",
    "anthropic": "anthropic",
    "openai-responses": "openai-responses",
    "google": "google",
}


def played(kind: str, raw: bytes, edges: list[int]) -> tuple[str, list[Any], bool]:
    """The text, all other chunks, and whether the stream was over before its end was told."""
    stream = StreamNormalizer(
        DIALECT[kind], "m", provider="novelai" if kind == "glm" else "custom:1", known_tools=KNOWN
    )
    chunks = [chunk for start, end in pairwise(edges) for chunk in stream.feed(raw[start:end])]
    over = stream.over
    chunks += [*stream.feed(raw), *stream.flush(EndOfFile())] if over else stream.flush(EndOfFile())
    text = "".join(chunk.content for chunk in chunks if isinstance(chunk, TextChunk))
    return text, [chunk for chunk in chunks if not isinstance(chunk, TextChunk)], over


@pytest.mark.parametrize("kind", DIALECT)
def test_a_call_too_many_ends_the_reply_as_an_error_wherever_the_bytes_are_cut(
    kind: str, sse: Callable[..., bytes]
) -> None:
    raw = sse(*payloads(kind, MAX_CALLS + 10))
    text, rest, over = played(kind, raw, [0, len(raw)])
    last = rest[-1]
    assert over
    assert isinstance(last, ErrorChunk)
    assert (last.error.code, last.error.retryable) == ("reply_too_large", False)
    assert len([chunk for chunk in rest if isinstance(chunk, FunctionCallChunk)]) == MAX_CALLS == len(rest) - 1
    assert "b" not in text
    for step in (4_099, 65_537):
        edges = [*range(0, len(raw), step), len(raw)]
        assert played(kind, raw, edges) == (text, rest, over)


@pytest.mark.parametrize("kind", DIALECT)
def test_as_many_calls_as_a_reply_may_have_are_all_told(kind: str, sse: Callable[..., bytes]) -> None:
    raw = sse(*payloads(kind, MAX_CALLS))
    _, rest, _ = played(kind, raw, [0, len(raw)])
    assert len([chunk for chunk in rest if isinstance(chunk, FunctionCallChunk)]) == MAX_CALLS
    assert getattr(getattr(rest[-1], "error", None), "code", "") != "reply_too_large"
