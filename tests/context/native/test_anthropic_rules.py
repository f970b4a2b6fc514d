"""What Anthropic refuses, and what differs between its models."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from schemas.context import GenerationOptions, TextPart
from services.catalog.target import Target
from services.context.dialects.anthropic_messages.models import habits
from services.context.dialects.anthropic_messages.pictures import MOST_IMAGES
from services.context.dialects.anthropic_messages.turns import CONTINUE
from services.context.render import render as build
from services.context.strict_chat import OPENING
from tests.context.native.making import CLAUDE, WEATHER, blob, bot, context, exchange, image, model, system, user

SONNET_4_6 = model(CLAUDE, "claude-sonnet-4-6")
OPUS_4_7 = model(CLAUDE, "claude-opus-4-7")
OPUS_5_5 = model(CLAUDE, "claude-opus-5-5")
CUSTOM = Target("custom", "anthropic", CLAUDE.model, base_url="http://127.0.0.1:9")
HELLO = user("grace: hello")


def messages(made: Any) -> list[dict[str, Any]]:
    return made.body["messages"]


def generation(target: Target, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """What the request says of thinking and sampling, and which options were left out or changed."""
    made = build(context(HELLO, options=GenerationOptions(**options)), target)
    keys = ("thinking", "output_config", "temperature", "top_p", "top_k")
    return {key: made.body[key] for key in keys if key in made.body}, [warning.place for warning in made.warnings]


# -- turns


def test_a_conversation_that_the_model_opens_gets_a_users_turn_before() -> None:
    made = build(context(bot("Ada: I am here."), HELLO), CUSTOM)
    assert messages(made) == [
        {"role": "user", "content": OPENING},
        {"role": "assistant", "content": "Ada: I am here."},
        {"role": "user", "content": "grace: hello"},
    ]


def test_a_context_of_system_text_alone_still_has_a_turn() -> None:
    assert messages(build(context(system("Be brief.")), CLAUDE)) == [{"role": "user", "content": OPENING}]


def test_blank_texts_make_no_blocks() -> None:
    made = build(context(user("grace: hello", "  \n"), user(" "), bot("")), CUSTOM)
    assert messages(made) == [{"role": "user", "content": "grace: hello"}]


def test_turns_with_tools_merge_with_no_neighbour() -> None:
    made = build(
        context(
            HELLO,
            bot("Ada: Hm."),
            tools=(WEATHER,),
            function_history=(exchange(("weather", {}, {"result": 1}), said="Wait."),),
            current_turn_model_parts=(TextPart(text="So:"),),
        ),
        CUSTOM,
    )
    assert [(turn["role"], [block["type"] for block in blocks(turn)]) for turn in messages(made)] == [
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]


def blocks(turn: dict[str, Any]) -> list[dict[str, Any]]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


# -- how a reply begins


def test_a_prefill_is_the_last_turn_without_white_space_at_its_end() -> None:
    made = build(context(HELLO, options=GenerationOptions(prefill="Ada: Well, \n")), CUSTOM)
    assert messages(made)[-1] == {"role": "assistant", "content": "Ada: Well,"}


def test_a_prefill_that_the_dialogue_ends_with_is_not_said_twice() -> None:
    made = build(context(HELLO, bot("Ada: Well,"), options=GenerationOptions(prefill="Ada: Well,")), CUSTOM)
    assert messages(made)[-1] == {"role": "assistant", "content": "Ada: Well,"}


def test_a_prefill_joins_what_the_model_said_last_in_one_turn() -> None:
    made = build(context(HELLO, bot("Ada: Hm."), options=GenerationOptions(prefill="Ada: Well,")), CUSTOM)
    assert [turn["role"] for turn in messages(made)] == ["user", "assistant"]


@pytest.mark.parametrize(
    "begun",
    [
        {"current_turn_model_parts": (TextPart(text="Well, it"),)},
        {"function_history": (exchange(("weather", {}, {"result": 1}), said="Wait."),)},
    ],
)
def test_a_reply_that_has_begun_gets_no_prefill(begun: dict[str, Any]) -> None:
    made = build(context(HELLO, options=GenerationOptions(prefill="Ada: Hey"), **begun), CUSTOM)
    assert "Ada: Hey" not in json.dumps(messages(made))


def test_a_model_that_takes_no_prefill_is_asked_to_go_on_from_it() -> None:
    made = build(context(HELLO, options=GenerationOptions(prefill="Ada: Well, ")), SONNET_4_6)
    assert messages(made)[1:] == [
        {"role": "assistant", "content": "Ada: Well,"},
        {"role": "user", "content": CONTINUE},
    ]


# -- tool calls


def test_a_call_has_its_result_in_the_turn_that_follows_and_images_come_behind_all_results() -> None:
    made = build(
        context(
            HELLO,
            tools=(WEATHER,),
            function_history=(exchange(("weather", {}, {}), ("weather", {}, {}), images=(image(),), note="See."),),
        ),
        CUSTOM,
    )
    assert [block["type"] for block in blocks(messages(made)[-1])] == [
        "tool_result",
        "tool_result",
        "text",
        "text",
        "image",
    ]


def test_tools_are_not_offered_where_the_turn_wants_none() -> None:
    made = build(context(HELLO, tools=(WEATHER,), options=GenerationOptions(tools_enabled=False)), CLAUDE)
    assert "tools" not in made.body
    assert "tool_choice" not in made.body


# -- sampling and thinking


@pytest.mark.parametrize(
    ("options", "keys", "left_out"),
    [
        ({}, {}, []),
        ({"temperature": 0.5, "top_p": 0.5}, {"temperature": 0.5}, ["options.top_p"]),
        ({"temperature": 1.0, "top_p": 0.5}, {"top_p": 0.5}, ["options.temperature"]),
        ({"temperature": 1.0, "top_p": 0.95}, {"temperature": 1.0}, ["options.top_p"]),
        ({"temperature": 1.0, "top_p": 0.9505}, {"temperature": 1.0}, ["options.top_p"]),
        ({"top_p": 0.95}, {"top_p": 0.95}, []),
        ({"temperature": 1.5}, {"temperature": 1.0}, ["options.temperature"]),
        ({"temperature": 0.5, "top_p": 1.0, "top_k": 0}, {"temperature": 0.5}, []),
        ({"temperature": 0.5, "top_p": 0.5, "disabled_parameters": ("temperature",)}, {"top_p": 0.5}, []),
        ({"top_k": 40, "disabled_parameters": ("top_k",)}, {}, []),
        ({"top_k": 40, "min_p": 0.1}, {"top_k": 40}, ["options.min_p"]),
    ],
)
def test_temperature_and_top_p_never_stand_together(
    options: dict[str, Any], keys: dict[str, Any], left_out: list[str]
) -> None:
    assert generation(CLAUDE, **options) == (keys, left_out)


@pytest.mark.parametrize(
    ("target", "options", "keys", "changed"),
    [
        (CLAUDE, {"thinking_level": "none"}, {}, []),
        (CLAUDE, {"thinking_level": "high", "temperature": 0.5}, {"temperature": 0.5}, ["options.thinking_level"]),
        (SONNET_4_6, {"temperature": 0.5}, {"thinking": {"type": "adaptive"}}, ["options.temperature"]),
        (
            SONNET_4_6,
            {"thinking_level": "none", "temperature": 0.5},
            {"thinking": {"type": "disabled"}, "temperature": 0.5},
            [],
        ),
        (
            SONNET_4_6,
            {"thinking_level": "low"},
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            [],
        ),
        (
            SONNET_4_6,
            {"thinking_level": "none", "force_reasoning": True},
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
            [],
        ),
        (OPUS_4_7, {}, {"thinking": {"type": "adaptive", "display": "summarized"}}, []),
        (
            OPUS_4_7,
            {"thinking_level": "none", "temperature": 0.5},
            {"thinking": {"type": "disabled"}},
            ["options.temperature"],
        ),
        (
            OPUS_5_5,
            {"thinking_level": "none"},
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
            ["options.thinking_level"],
        ),
    ],
)
def test_each_model_is_asked_to_think_as_it_can(
    target: Target, options: dict[str, Any], keys: dict[str, Any], changed: list[str]
) -> None:
    assert generation(target, **options) == (keys, changed)


def test_thinking_that_nobody_asked_for_may_be_given_up() -> None:
    assert build(context(HELLO), SONNET_4_6).added == ("thinking",)
    asked = GenerationOptions(thinking_level="low")
    assert build(context(HELLO, options=asked), SONNET_4_6).added == ()


@pytest.mark.parametrize(
    ("codename", "thinking", "sampling", "prefill"),
    [
        ("claude-3-5-sonnet-20241022", "unasked", True, True),
        ("claude-sonnet-4-20250514", "unasked", True, True),
        ("claude-haiku-4-5-20251001", "unasked", True, True),
        ("anthropic/claude-opus-4.6", "by choice", True, False),
        ("claude-sonnet-4-6", "by choice", True, False),
        ("claude-opus-4-8", "by choice", False, False),
        ("claude-opus-5", "by choice", False, False),
        ("claude-haiku-5-5", "by choice", False, False),
        ("claude-opus-5-5", "always", False, False),
        ("claude-mythos-preview", "always", False, False),
        ("claude-fable-5-1", "always", False, False),
        ("minimax-m2", "unasked", True, True),
    ],
)
def test_models_are_told_apart_by_family_and_version(
    codename: str, thinking: str, sampling: bool, prefill: bool
) -> None:
    found = habits(codename)
    assert (found.thinking, found.sampling, found.prefill) == (thinking, sampling, prefill)


# -- stops and length


def test_stop_sequences_of_blanks_alone_are_left_out() -> None:
    made = build(context(HELLO, options=GenerationOptions(stop_strings=("\n\n", "END"))), CUSTOM)
    assert made.body["stop_sequences"] == snapshot(["<｜begin▁of▁sentence｜>", "END"])
    assert [warning.code for warning in made.warnings] == ["stop_strings_cut"]


def test_the_longest_reply_is_never_above_what_the_model_writes() -> None:
    short = model(CLAUDE, "claude-haiku-4-5", max_output_tokens=1000)
    asked = GenerationOptions(max_output_tokens=5000)
    assert build(context(HELLO), CLAUDE).body["max_tokens"] == 8192
    assert build(context(HELLO, options=asked), short).body["max_tokens"] == 1000
    assert build(context(HELLO), short).body["max_tokens"] == 1000


# -- pictures


def test_of_too_many_pictures_the_oldest_are_left_out() -> None:
    made = build(context(*(user(image(), message_id=str(index)) for index in range(MOST_IMAGES + 2))), CLAUDE)
    assert made.skipped_images == ("0", "1")


def test_pictures_together_stay_below_the_size_of_a_request() -> None:
    made = build(context(*(user(blob(3_900_000), message_id=str(index)) for index in range(9))), CLAUDE)
    shown = 9 - len(made.skipped_images)
    assert 0 < shown * 3_900_000 * 4 / 3 < 32_000_000
    assert made.skipped_images == tuple(str(index) for index in range(9 - shown))


# -- caching


def breakpoints(made: Any) -> list[str]:
    """Where the cached prefixes end, by what ends there."""
    found: list[str] = []
    for tool in made.body.get("tools", ()):
        found += ["tools"] * ("cache_control" in tool)
    system_text = made.body.get("system")
    if isinstance(system_text, list):
        found += ["system"] * ("cache_control" in system_text[-1])
    for turn in messages(made):
        found += [block.get("text", block["type"]) for block in blocks(turn) if "cache_control" in block]
    return found


def test_prefixes_end_at_tools_system_text_the_last_thing_said_and_the_last_results() -> None:
    made = build(
        context(
            system("Be Ada."),
            user("About grace.", tag="knowledge_users_in_conversation"),
            user("grace: one"),
            bot("Ada: two"),
            user("grace: three"),
            user("A directive.", tag=None),
            tools=(WEATHER,),
            function_history=(exchange(("weather", {}, {})), exchange(("weather", {}, {}))),
        ),
        CLAUDE,
    )
    assert breakpoints(made) == ["tools", "system", "grace: three", "tool_result"]


def test_nothing_behind_a_note_counts_as_said_for_good() -> None:
    made = build(
        context(user("grace: one"), user("A note.", tag="context_note_injection"), bot("Ada: two"), user("grace: 3")),
        CLAUDE,
    )
    assert breakpoints(made) == ["grace: one"]


def test_only_anthropic_itself_is_told_what_to_cache() -> None:
    made = build(
        context(system("Be Ada."), HELLO, tools=(WEATHER,), function_history=(exchange(("weather", {}, {})),)), CUSTOM
    )
    assert breakpoints(made) == []
    assert made.body["system"] == "Be Ada."
    assert made.url == "http://127.0.0.1:9/v1/messages"
