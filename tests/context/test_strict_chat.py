"""Strict chat-completion compatibility: role alternation and prefix completion, two switches that stay apart."""

from copy import deepcopy
from itertools import pairwise, product
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.chunks import Dialect
from services.catalog.strict_flags import (
    api_family,
    offered_chat_compat_flags,
    provider_requires_alternation,
    provider_requires_prefix_completion,
)
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.strict_chat import (
    OPENING,
    alternate,
    enables_prefix_completion,
    enforces_alternation,
    mark_prefix,
)

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
CALLS: Any = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
DIALECT_OF: dict[str, Dialect] = {
    "anthropic": "anthropic",
    "google": "google",
    "vertex": "google",
    "vertexexpress": "google",
    "novelai": "novelai",
}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def target(provider: ProviderName, *, alternation: bool = False, prefix: bool = False) -> Target:
    model = ModelFacts("m", strict_role_alternation=alternation, supports_prefix_completion=prefix)
    return Target(provider, DIALECT_OF.get(provider, "openai-chat"), model)


def bears_tools(message: dict[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("tool_call_id"))


def texts(messages: list[dict[str, Any]]) -> str:
    """All texts and media in order, as one text."""
    out: list[str] = []
    for message in messages:
        content = message["content"]
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if part.get("text"):
                out.append(part["text"])
            elif part["type"] != "text":
                out.append(repr(part))
    return "\n".join(out)


contents = st.text(max_size=3) | st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=3)) | st.just(IMAGE), max_size=3
)
turns = (
    st.builds(said, st.sampled_from(["user", "assistant"]), contents)
    | st.builds(lambda content: said("assistant", content) | {"tool_calls": CALLS}, contents)
    | st.builds(lambda content: said("tool", content) | {"tool_call_id": "c1"}, st.text(max_size=3))
)
conversations = st.tuples(st.sampled_from([[], [said("system", "s")]]), st.lists(turns, max_size=12)).map(
    lambda halves: halves[0] + halves[1]
)


def test_turns_of_one_role_become_one() -> None:
    made = alternate([said("user", "a"), said("user", "b"), said("assistant", "c"), said("assistant", "d")])
    assert made == [said("user", "a\nb"), said("assistant", "c\nd")]


def test_parts_follow_parts_where_a_turn_has_media() -> None:
    assert alternate([said("user", "a"), said("user", [IMAGE]), said("user", "b")]) == [
        said("user", [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}])
    ]


def test_a_conversation_that_the_model_opens_gets_a_users_turn_before_it() -> None:
    made = alternate([said("system", "s"), said("assistant", "hello"), said("user", "hi")])
    assert made == [said("system", "s"), said("user", OPENING), said("assistant", "hello"), said("user", "hi")]


def test_a_conversation_that_a_user_opens_gets_none() -> None:
    messages = [said("system", "s"), said("user", "hi"), said("assistant", "hello")]
    assert alternate(messages) == messages


def test_turns_with_tool_wiring_are_boundaries() -> None:
    messages = [
        said("user", "look"),
        said("assistant", "I look."),
        said("assistant", "") | {"tool_calls": CALLS},
        said("tool", "one") | {"tool_call_id": "c1"},
        said("tool", "two") | {"tool_call_id": "c2"},
        said("assistant", "done"),
    ]
    assert alternate(messages) == messages


@given(conversations)
def test_alternation_leaves_no_two_neighbours_of_a_role_outside_tool_boundaries(messages: list[Any]) -> None:
    made = alternate(messages)
    for one, other in pairwise(made):
        assert one["role"] != other["role"] or bears_tools(one) or bears_tools(other)
    dialogue = [message for message in made if message["role"] != "system"]
    assert not dialogue or dialogue[0]["role"] != "assistant"
    assert [message for message in made if bears_tools(message)] == [
        message for message in messages if bears_tools(message)
    ]


@given(conversations)
def test_alternation_loses_no_word_changes_no_argument_and_is_idempotent(messages: list[Any]) -> None:
    before = deepcopy(messages)
    made = alternate(messages)
    assert messages == before
    assert texts([message for message in made if message["content"] != OPENING]) == texts(messages)
    assert alternate(made) == made


def test_the_trailing_assistant_turn_is_marked_to_be_continued() -> None:
    messages = [said("user", "a tale"), said("assistant", "Once")]
    assert mark_prefix(messages) == [said("user", "a tale"), said("assistant", "Once") | {"prefix": True}]
    assert messages[-1] == said("assistant", "Once")


@pytest.mark.parametrize(
    "messages",
    [[], [said("user", "hi")], [said("user", "hi"), said("assistant", "") | {"tool_calls": CALLS}]],
)
def test_nothing_else_is_marked(messages: list[Any]) -> None:
    assert mark_prefix(messages) == messages


def test_what_providers_demand() -> None:
    providers = get_args(ProviderName)
    assert {name for name in providers if provider_requires_alternation(name)} == {"anthropic"}
    assert {name for name in providers if provider_requires_prefix_completion(name)} == {"deepseek", "zai", "zaicoding"}


@pytest.mark.parametrize(("alternation", "prefix"), [*product([False, True], repeat=2)])
def test_a_custom_endpoint_has_both_switches_and_each_alone(*, alternation: bool, prefix: bool) -> None:
    custom = target("custom", alternation=alternation, prefix=prefix)
    assert (enforces_alternation(custom), enables_prefix_completion(custom)) == (alternation, prefix)


@pytest.mark.parametrize("provider", ["deepseek", "zai", "zaicoding"])
def test_a_mis_seeded_row_still_completes_prefixes(provider: ProviderName) -> None:
    assert enables_prefix_completion(target(provider, prefix=False))
    assert not enforces_alternation(target(provider))
    assert enforces_alternation(target(provider, alternation=True))


def test_a_mis_seeded_row_still_alternates_at_anthropic_which_reads_no_prefix() -> None:
    assert enforces_alternation(target("anthropic", alternation=False))
    assert not enables_prefix_completion(target("anthropic", prefix=True))


@pytest.mark.parametrize("provider", ["openrouter", "google", "vertex", "vertexexpress", "novelai"])
def test_some_providers_read_neither_column(provider: ProviderName) -> None:
    both = target(provider, alternation=True, prefix=True)
    assert (enforces_alternation(both), enables_prefix_completion(both)) == (False, False)


def test_a_custom_endpoint_that_speaks_anthropics_dialect_alternates() -> None:
    assert enforces_alternation(Target("custom", "anthropic", ModelFacts("m")))


def test_a_switch_is_offered_where_the_request_path_reads_it_and_the_provider_does_not_force_it() -> None:
    offered = {
        name: sorted(offered_chat_compat_flags(api_family(name, DIALECT_OF.get(name, "openai-chat")), name))
        for name in get_args(ProviderName)
    }
    assert offered == snapshot(
        {
            "openai": ["strict_role_alternation", "supports_prefix_completion"],
            "google": [],
            "vertex": [],
            "vertexexpress": [],
            "openrouter": [],
            "anthropic": [],
            "deepseek": ["strict_role_alternation"],
            "zai": ["strict_role_alternation"],
            "zaicoding": ["strict_role_alternation"],
            "nvidia": ["strict_role_alternation", "supports_prefix_completion"],
            "novelai": [],
            "custom": ["strict_role_alternation", "supports_prefix_completion"],
        }
    )
