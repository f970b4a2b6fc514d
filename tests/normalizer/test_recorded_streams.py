"""Recorded streams give what the providers' own SDKs made of them, however their bytes are cut."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "data" / "normalizer"
STREAMS = sorted(DATA.glob("*/*.sse"))
ONLY_IN_DETAILS = {"snowflake__pyd-snowflake_thinking_streaming": "15 * 27 = 405"}
"""Thinking that comes in `reasoning_details` alone, which the SDK passes over."""


def cut(raw: bytes, split: str) -> Iterator[bytes]:
    dice = random.Random(split)
    at = 0
    while at < len(raw):
        size = len(raw) if split == "whole" else dice.choice((1, 2, 3, 30, 1000)) if split == "random" else int(split)
        yield raw[at : at + size]
        at += size


def input_and_output_tokens(dialect: str, usage: dict[str, Any]) -> tuple[int, int]:
    if dialect == "openai-chat":
        return usage["prompt_tokens"], usage["completion_tokens"]
    if dialect == "google":
        read = ("promptTokenCount", "toolUsePromptTokenCount"), ("candidatesTokenCount", "thoughtsTokenCount")
        taken, given = (sum(usage.get(key) or 0 for key in keys) for keys in read)
        return taken, given
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(key) or 0 for key in keys), usage["output_tokens"]


@pytest.mark.parametrize("split", ["whole", "1", "7", "64", "random"])
@pytest.mark.parametrize("stream", STREAMS, ids=lambda path: path.stem)
def test_a_recorded_stream_gives_what_the_sdk_made_of_it(stream: Path, split: str, play: Callable[..., Any]) -> None:
    raw = stream.read_bytes()
    dialect = stream.parent.name
    expected = json.loads(stream.with_name(f"{stream.stem}.expected.json").read_text())

    reply = play(dialect, cut(raw, split))

    assert reply.text == (expected["text"] or expected.get("refusal") or "")
    assert reply.thinking == ONLY_IN_DETAILS.get(stream.stem, expected["thinking"])
    assert [call.name for call in reply.calls] == [call["name"] for call in expected["tool_calls"]]
    for call, wanted in zip(reply.calls, expected["tool_calls"], strict=True):
        assert call.id == wanted["id"] if wanted["id"] else call.id
        assert call.arguments_truncated if "args_raw" in wanted and reply.error else call.args == wanted["args"]
    assert reply.metadata.finish_reason_raw == expected["finish_reason"]
    assert reply.metadata.model == (expected["model"] or "asked-for")
    ended = expected["finish_reason"] or raw.rstrip().endswith(b"[DONE]")
    assert (reply.error is not None) == (expected["error"] is not None or not ended)
    if expected["server_tool_calls"]:
        told = [(call.id or None, call.name) for call in reply.metadata.server_tool_calls]
        assert told == [(call["id"], call["name"]) for call in expected["server_tool_calls"]]
    if expected["usage"]:
        wanted_tokens = input_and_output_tokens(dialect, expected["usage"])
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == wanted_tokens
    if expected["error"]:
        inner = expected["error"].get("error", expected["error"])
        assert inner["message"] in reply.error.message


def test_thinking_blocks_and_their_signatures_are_kept_for_replay(data_dir: Path, play: Callable[..., Any]) -> None:
    raw = (data_dir / "anthropic" / "anthropic__clear-thinking.1.sse").read_bytes()

    reply = play("anthropic", [raw])

    (block,) = reply.metadata.replay
    assert block["type"] == "thinking"
    assert block["thinking"] == reply.thinking
    assert len(block["signature"]) > 100
