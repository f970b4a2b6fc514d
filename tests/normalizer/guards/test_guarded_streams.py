"""Whole streams through the guards: who has which, in which order, and no cut of the bytes changes the reply."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.chunks import Dialect
from schemas.prompts import KnownTool
from services.normalizer.endings import Stopped

DRAW = KnownTool(name="draw")
LEAKS: list[dict[str, Any]] = [
    {"reasoning": "It is "},
    {"content": "<mm:thi"},
    {"content": "nk>hidden</mm:think>"},
    {"content": "must do.Hello 🌍 <th"},
    {"content": 'ree> `draw({"a":'},
    {"content": '"b)"})` and <|tool_call>call:f{a:'},
    {"content": '<|"|>x<|"|>}<tool_call|>!'},
]


def leak(sse: Callable[..., bytes], deltas: list[dict[str, Any]] = LEAKS) -> bytes:
    return sse(*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), "[DONE]")


@pytest.mark.parametrize("provider", ["custom", "custom:my-server"])
def test_a_custom_provider_has_all_guards_in_order(
    provider: str, play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play("openai-chat", [leak(sse)], provider=provider, known_tools=[DRAW])
    assert (reply.text, reply.thinking) == ("Hello 🌍 <three>  and !", "It is hiddenmust do.")
    assert reply.arguments == [("draw", {"a": "b)"}), ("f", {"a": "x"})]
    assert reply.metadata.finish_reason == "tool_calls"


@pytest.mark.parametrize("provider", ["", "openrouter", "deepseek", "api.openai.com", "customs"])
def test_other_chat_providers_have_what_moves_reasoning(
    provider: str, play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play("openai-chat", [leak(sse)], provider=provider, known_tools=[DRAW])
    assert reply.thinking == "It is hiddenmust do."
    assert reply.text == 'Hello 🌍 <three> `draw({"a":"b)"})` and <|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>!'
    assert reply.calls == []


def test_calls_in_the_text_are_calls_only_where_tools_were_offered(
    play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play("openai-chat", [leak(sse, [{"content": "draw({})"}])], provider="custom")
    assert (reply.text, reply.calls) == ("draw({})", [])


@pytest.mark.parametrize("dialect", ["anthropic", "google"])
def test_other_dialects_have_none(dialect: Dialect, play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    text = "<think>a</think>b"
    if dialect == "anthropic":
        raw = sse({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    else:
        raw = sse({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]})
    assert play(dialect, [raw], provider="custom").text == text


def test_without_guards_nothing_moves(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    reply = play("openai-chat", [leak(sse)], provider="custom", known_tools=[DRAW], guards=False)
    assert reply.text == "".join(delta.get("content", "") for delta in LEAKS)


def test_what_is_held_back_is_shown_when_a_stream_is_stopped(
    play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    raw = sse({"choices": [{"index": 0, "delta": {"content": 'So: draw({"a'}}]})
    reply = play("openai-chat", [raw], Stopped(), provider="custom", known_tools=[DRAW])
    assert (reply.text, reply.calls, reply.metadata.stopped) == ('So: draw({"a', [], True)


def test_native_calls_and_found_ones_do_not_mix(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    native = {"tool_calls": [{"index": 0, "id": "n", "function": {"name": "f", "arguments": '{"x":'}}]}
    rest = {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}
    raw = leak(sse, [native, {"content": "draw({})"}, rest, {"content": "draw({})"}])
    reply = play("openai-chat", [raw], provider="custom", known_tools=[DRAW])
    assert [(call.id, call.name, call.args) for call in reply.calls] == [
        ("n", "f", {"x": 1}),
        ("call_1", "draw", {}),
        ("call_2", "draw", {}),
    ]


@settings(max_examples=100, deadline=None)
@given(cuts=st.lists(st.floats(0, 1), max_size=20), escaped=st.booleans())
def test_a_cut_of_the_bytes_changes_nothing(
    play: Callable[..., Any], sse: Callable[..., bytes], cuts: list[float], escaped: bool
) -> None:
    raw = leak(sse)
    if not escaped:
        raw = raw.replace(json.dumps("🌍")[1:-1].encode(), "🌍".encode())
    edges = [0, *sorted(int(share * len(raw)) for share in cuts), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(edges)]
    assert play("openai-chat", pieces, provider="custom", known_tools=[DRAW]) == play(
        "openai-chat", [raw], provider="custom", known_tools=[DRAW]
    )
