"""Requests as the providers want them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from services.context.context import NeutralContext, Turn
from services.context.dialects import DIALECTS, anthropic, openai_chat

CONTEXT = NeutralContext(
    model="spool-1",
    system="Be brief.",
    turns=(
        Turn("assistant", "I am here."),
        Turn("user", "hello", "grace"),
        Turn("user", "and you?", "Ada"),
    ),
    stop=("\n", "one", "two", "three", "four"),
    max_tokens=100,
    temperature=1.5,
)
BARE = NeutralContext(model="spool-1", system="", turns=(Turn("user", "hi", "Ada"),), stop=(), max_tokens=100)


def test_an_openai_request_in_full() -> None:
    made = openai_chat.build(CONTEXT, "http://127.0.0.1:9/v1")
    assert made.url == "http://127.0.0.1:9/v1/chat/completions"
    assert made.headers == snapshot({"accept": "text/event-stream"})
    assert made.body == snapshot(
        {
            "model": "spool-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "assistant", "content": "I am here."},
                {"role": "user", "content": "grace: hello"},
                {"role": "user", "content": "Ada: and you?"},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 100,
            "stop": ["\n", "one", "two", "three"],
            "temperature": 1.5,
        }
    )


def test_openai_itself_is_asked_with_its_newer_name_for_the_longest_reply() -> None:
    assert openai_chat.build(BARE, "https://api.openai.com").body == snapshot(
        {
            "model": "spool-1",
            "messages": [{"role": "user", "content": "Ada: hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_completion_tokens": 100,
        }
    )


def test_an_anthropic_request_in_full() -> None:
    made = anthropic.build(CONTEXT, "https://api.anthropic.com")
    assert made.url == "https://api.anthropic.com/v1/messages"
    assert made.headers == snapshot({"accept": "text/event-stream", "anthropic-version": "2023-06-01"})
    assert made.body == snapshot(
        {
            "model": "spool-1",
            "max_tokens": 100,
            "messages": [
                {"role": "user", "content": "[System: The conversation began before this.]"},
                {"role": "assistant", "content": "I am here."},
                {"role": "user", "content": "grace: hello\nAda: and you?"},
            ],
            "stream": True,
            "system": "Be brief.",
            "stop_sequences": ["one", "two", "three", "four"],
            "temperature": 1.0,
        }
    )


def test_an_anthropic_request_leaves_out_what_is_not_set() -> None:
    assert anthropic.build(BARE, "https://api.anthropic.com").body == snapshot(
        {
            "model": "spool-1",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "Ada: hi"}],
            "stream": True,
        }
    )


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com/v1/chat/completions"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("http://localhost:1/v1/chat/completions", "http://localhost:1/v1/chat/completions"),
        ("http://localhost:1/proxy/", "http://localhost:1/proxy/v1/chat/completions"),
    ],
)
def test_a_base_url_may_be_a_root_a_version_or_the_whole(base: str, url: str) -> None:
    assert openai_chat.build(BARE, base).url == url


@given(
    st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), st.text(min_size=1, max_size=3))).map(
        lambda turns: (*turns, Turn("user", "last"))
    )
)
def test_roles_alternate_for_anthropic_and_no_word_is_lost(turns: tuple[Turn, ...]) -> None:
    context = NeutralContext(model="m", system="", turns=turns, stop=(), max_tokens=1)
    messages: Any = anthropic.build(context, "https://api.anthropic.com").body["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    assert all(one["role"] != other["role"] for one, other in pairwise(messages))
    told = "\n".join(message["content"] for message in messages)
    if turns[0].role == "assistant":
        told = told.removeprefix(f"{anthropic.OPENING}\n")
    assert told == "\n".join(turn.line for turn in turns)


def test_every_dialect_has_its_providers_address() -> None:
    assert {name: spec.base_url for name, spec in DIALECTS.items()} == snapshot(
        {"openai-chat": "https://api.openai.com", "anthropic": "https://api.anthropic.com"}
    )
