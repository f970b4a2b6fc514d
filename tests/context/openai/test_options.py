"""Length, sampling, thinking and stop strings, by the provider's habits."""

from typing import Any

import pytest

from services.context.failures import ContextTooLong, UnusableTarget
from services.context.render import render
from tests.context.openai.conftest import LOOK, TALK, body, context, exchange, item, target, warned

SAMPLED = {"temperature": 0.7, "top_p": 0.9, "frequency_penalty": 0.5, "presence_penalty": 0.5}
LEVELS = ("auto", "none", "low", "medium", "high")


def keys(options: dict[str, Any], *names: str, to: Any = None) -> dict[str, Any]:
    """The named keys of the body, as far as it has them."""
    made = body(context(options=options), to or target())
    return {name: made[name] for name in names if name in made}


@pytest.mark.parametrize("provider", ["deepseek", "zai", "zaicoding", "nvidia", "custom"])
def test_a_reply_is_bounded_where_nobody_says_by_how_much(provider: Any) -> None:
    assert body(context(), target(provider))["max_tokens"] == 4096
    assert body(context(), target(provider, max_output_tokens=1000))["max_tokens"] == 1000


def test_a_wish_beyond_the_model_is_cut_to_what_it_writes() -> None:
    made = render(context(options={"max_output_tokens": 9000}), target(max_output_tokens=8000))
    assert made.body["max_tokens"] == 8000
    assert warned(made) == [("parameter_clamped", "options.max_output_tokens")]


def test_openai_is_asked_with_its_newer_name_and_only_on_wish() -> None:
    assert keys({}, "max_tokens", "max_completion_tokens", to=target("openai")) == {}
    assert keys({"max_output_tokens": 9}, "max_tokens", "max_completion_tokens", to=target("openai")) == {
        "max_completion_tokens": 9
    }


@pytest.mark.parametrize(
    ("facts", "wish", "length"),
    [
        ({}, None, None),
        ({}, 20_000, 20_000),
        ({"max_output_tokens": 64_000}, None, 8192),
        ({"max_output_tokens": 4000}, None, 4000),
        ({"max_output_tokens": 64_000}, 20_000, 20_000),
        ({"max_output_tokens": 64_000, "context_window": 10_000}, None, 5000),
        ({"max_output_tokens": 64_000, "context_window": 10_000}, 9000, 7182),
        ({"max_output_tokens": 64_000, "context_window": 3000}, 9000, 882),
    ],
)
def test_a_router_gets_the_models_own_bound_up_to_a_cap_and_what_the_context_leaves(
    facts: Any, wish: int | None, length: int | None
) -> None:
    given = context(item("user", "x" * 8076), options={"max_output_tokens": wish})
    to = target("openrouter", **facts)
    assert body(given, to).get("max_tokens") == length


def test_a_router_leaves_a_short_reply_its_least_room() -> None:
    from services.context.dialects.chat_completions.gating import room_for_reply
    from services.context.dialects.shown import Notes

    made: Any = {"max_tokens": 8192, "messages": [{"role": "user", "content": "x" * 4000}]}
    room_for_reply(made, target(context_window=1270, max_output_tokens=8192).model, asked=False, notes=Notes())
    assert made["max_tokens"] == 256
    room_for_reply(made, target(context_window=1100, max_output_tokens=8192).model, asked=False, notes=Notes())
    assert made["max_tokens"] == 90


def test_a_default_bound_leaves_half_of_a_small_window_to_the_context() -> None:
    assert body(context(), target(num_ctx=2048))["max_tokens"] == 1024
    assert body(context(options={"max_output_tokens": 2000}), target(num_ctx=2048))["max_tokens"] == 2000


def test_only_sampling_that_does_something_is_sent() -> None:
    idle = {"top_p": 1, "top_k": 0, "frequency_penalty": 0, "presence_penalty": 0, "min_p": 0, "temperature": 1}
    assert keys(idle, *idle) == {"temperature": 1}
    assert keys(SAMPLED | {"top_k": 5, "min_p": 0.1}, *SAMPLED, "top_k", "min_p") == SAMPLED | {
        "top_k": 5,
        "min_p": 0.1,
    }


@pytest.mark.parametrize("provider", ["custom", "openrouter", "openai"])
def test_disabled_parameters_are_never_sent(provider: Any) -> None:
    options = SAMPLED | {"disabled_parameters": [*SAMPLED, "repetition_penalty"]}
    assert keys(options, *SAMPLED, "repetition_penalty", to=target(provider)) == {}


def test_openai_gets_no_parameter_that_it_does_not_know() -> None:
    made = render(context(options={"top_k": 5, "min_p": 0.1, "repetition_penalty": 1.2}), target("openai", "gpt-4.1"))
    assert not {"top_k", "min_p", "repetition_penalty"} & made.body.keys()
    assert [place for _, place in warned(made)] == ["options.top_k", "options.repetition_penalty", "options.min_p"]


@pytest.mark.parametrize("provider", ["custom", "openrouter"])
def test_some_get_a_repetition_penalty_unless_the_user_set_one(provider: Any) -> None:
    assert keys({}, "repetition_penalty", to=target(provider)) == {"repetition_penalty": 1.1}
    assert keys({"repetition_penalty": 1.5}, "repetition_penalty", to=target(provider)) == {"repetition_penalty": 1.5}
    assert keys({"repetition_penalty": 1}, "repetition_penalty", to=target(provider)) == {}
    assert keys({}, "repetition_penalty", to=target("deepseek")) == {}


def test_a_router_gets_only_what_the_model_is_known_to_take_but_tools_all_the_same() -> None:
    given = context(options=SAMPLED | {"stop_strings": ["x"], "thinking_level": "low"}, tools=(LOOK,))
    to = target("openrouter", supported_parameters=frozenset({"temperature", "max_tokens"}))
    made = render(given, to)
    assert {*made.body} == {"model", "messages", "stream", "stream_options", "temperature", "tools", "provider"}
    assert ("parameter_dropped", "body.stop") in warned(made)
    assert ("parameter_dropped", "body.repetition_penalty") not in warned(made)


def test_token_ids_are_biased_and_texts_are_not() -> None:
    made = render(context(options={"logit_bias": [{"text": "42", "bias": -5}, {"text": "cat", "bias": 5}]}), target())
    assert made.body["logit_bias"] == {"42": -5}
    assert warned(made) == [("parameter_dropped", "options.logit_bias[1]")]


@pytest.mark.parametrize(
    ("provider", "count"),
    [("openai", 4), ("openrouter", 4), ("deepseek", 16), ("zai", 1), ("zaicoding", 1), ("nvidia", 21), ("custom", 21)],
)
def test_stop_strings_keep_to_the_providers_limit(provider: Any, count: int) -> None:
    made = render(context(options={"stop_strings": [f"s{n}" for n in range(20)]}), target(provider, "gpt-4.1"))
    assert len(made.body["stop"]) == count
    assert made.body["stop"][-1 if count < 21 else 1] in ("s3", "s15", "s0")


def test_the_personas_label_stops_all_but_custom_endpoints() -> None:
    options = {"speaker_stop": True, "persona_name": "Mira  K."}
    assert "\nMira K.:" in body(context(options=options), target("deepseek"))["stop"]
    assert "\nMira K.:" not in body(context(options=options), target())["stop"]


def thinking(to: Any, *names: str) -> list[Any]:
    """What each level adds to the body: the one key, or all of several."""
    made = [keys({"thinking_level": level}, *names, to=to) for level in LEVELS]
    return [one.get(names[0]) if len(names) == 1 else one for one in made]


def test_thinking_levels_of_openai_depend_on_the_model() -> None:
    assert thinking(target("openai", "o4-mini"), "reasoning_effort") == [None, "low", "low", "medium", "high"]
    assert thinking(target("openai", "gpt-5-mini"), "reasoning_effort") == [None, "minimal", "low", "medium", "high"]
    assert thinking(target("openai", "gpt-5.1"), "reasoning_effort") == [None, "none", "low", "medium", "high"]
    assert thinking(target("openai", "gpt-5-chat-latest"), "reasoning_effort") == [None] * 5
    assert thinking(target("openai", "gpt-4.1"), "reasoning_effort") == [None] * 5
    responses = target("openai", "gpt-5.1", "openai-responses")
    assert thinking(responses, "reasoning")[2] == {"effort": "low"}


def test_openais_reasoning_models_take_neither_sampling_nor_stops_unless_told_not_to_reason() -> None:
    options = SAMPLED | {"stop_strings": ["x"]}
    for model in ("o3", "gpt-5", "gpt-5.1"):
        made = render(context(options=options), target("openai", model))
        assert not {*SAMPLED, "stop"} & made.body.keys()
        assert ("parameter_dropped", "options.temperature") in warned(made)
    calm = body(context(options=options | {"thinking_level": "none"}), target("openai", "gpt-5.1"))
    assert {*SAMPLED, "stop"} <= calm.keys()


def test_thinking_levels_of_deepseek_depend_on_the_model() -> None:
    on, off = {"type": "enabled"}, {"type": "disabled"}
    assert thinking(target("deepseek", "deepseek-chat"), "thinking") == [None, None, on, on, on]
    assert thinking(target("deepseek", "deepseek-v4-flash"), "thinking") == [None, off, on, on, on]
    assert thinking(target("deepseek", "deepseek-v4-pro"), "thinking") == [None] * 5
    assert thinking(target("deepseek", "deepseek-reasoner"), "thinking") == [None] * 5
    for model, level in (("deepseek-reasoner", "auto"), ("deepseek-chat", "low"), ("deepseek-v4-flash", "high")):
        assert keys(SAMPLED | {"thinking_level": level}, *SAMPLED, to=target("deepseek", model)) == {}
    assert keys(SAMPLED, *SAMPLED, to=target("deepseek", "deepseek-chat")) == SAMPLED


@pytest.mark.parametrize("provider", ["zai", "zaicoding"])
def test_thinking_levels_of_zai(provider: Any) -> None:
    on = {"type": "enabled"}
    to = target(provider, "zai/glm-4.7")
    assert thinking(to, "thinking") == [None, {"type": "disabled"}, on, on, on]
    assert keys(SAMPLED | {"thinking_level": "none"}, *SAMPLED, to=to) == SAMPLED
    assert keys(SAMPLED | {"thinking_level": "low"}, *SAMPLED, to=to) == {}


def test_thinking_levels_of_a_router_are_efforts() -> None:
    assert thinking(target("openrouter"), "reasoning") == [None, *({"effort": level} for level in LEVELS[1:])]


def test_thinking_levels_of_nvidia_are_told_to_the_template_and_as_an_effort() -> None:
    made = thinking(target("nvidia"), "chat_template_kwargs", "reasoning_effort")
    assert made[:3] == [
        {},
        {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}, "reasoning_effort": "low"},
        {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}, "reasoning_effort": "low"},
    ]


@pytest.mark.parametrize("host", ["http://ollama.example/v1", "http://localhost:11434", "http://my-ollama:80/v1"])
def test_of_custom_endpoints_only_ollama_takes_an_effort(host: str) -> None:
    assert thinking(target(base_url=host), "reasoning_effort") == [None, *LEVELS[1:]]
    assert thinking(target(base_url="http://localhost:1234/v1"), "reasoning_effort") == [None] * 5


def test_a_turn_that_must_reason_raises_the_level() -> None:
    options = {"thinking_level": "none", "force_reasoning": True}
    assert keys(options, "reasoning", to=target("openrouter")) == {"reasoning": {"effort": "high"}}


def test_a_custom_endpoint_is_told_the_contexts_size() -> None:
    made = body(context(), target(num_ctx=20_000))
    assert (made["options"], made["max_context_length"]) == ({"num_ctx": 20_000}, 20_000)
    assert not {"options", "max_context_length"} & body(context(), target()).keys()


def test_tools_are_offered_with_their_schema_and_streamed_where_that_must_be_asked_for() -> None:
    given = context(tools=(LOOK,))
    made = body(given, target("zai"))
    assert made["tools"][0]["function"]["name"] == "look"
    assert made["tools"][0]["function"]["parameters"] == LOOK.parameters
    assert made["tool_stream"] is True
    assert "tool_stream" not in body(context(), target("zai"))
    assert "tool_stream" not in body(given, target("deepseek"))
    assert body(given, target("openrouter"))["provider"] == {"require_parameters": True}
    assert "provider" not in body(context(), target("openrouter"))


def test_no_tools_are_offered_to_a_model_without_them_or_in_a_turn_that_wants_none() -> None:
    made = render(context(tools=(LOOK,)), target(has_tools=False))
    assert "tools" not in made.body
    assert warned(made) == [("tools_dropped", "tools")]
    quiet = render(context(tools=(LOOK,), options={"tools_enabled": False}), target())
    assert "tools" not in quiet.body
    assert warned(quiet) == []


def test_what_was_added_unasked_and_what_is_mandatory_is_told() -> None:
    made = render(context(tools=(LOOK,), options={"thinking_level": "low"}), target("deepseek", "deepseek-v4-flash"))
    assert made.mandatory == {"model", "messages", "stream", "thinking"}
    assert made.added == ("stream_options", "max_tokens")
    router = render(context(tools=(LOOK,)), target("openrouter"))
    assert router.added == ("stream_options", "repetition_penalty", "provider")
    nvidia = render(context(options={"thinking_level": "low"}), target("nvidia"))
    assert not {"chat_template_kwargs", "reasoning_effort"} & nvidia.mandatory


def test_the_oldest_history_makes_room_in_a_model_whose_window_is_known() -> None:
    given = context(TALK[0], item("user", "x" * 4000), item("model", "y"), item("user", "ada: now"))
    made = render(given, target(context_window=1500, max_output_tokens=1000))
    assert [message["content"] for message in made.body["messages"]] == ["Be brief.", "ada: now"]
    assert warned(made) == [("history_truncated", "items[1..2]")]
    assert render(given, target()).warnings == ()


def test_a_context_that_cannot_fit_is_refused() -> None:
    with pytest.raises(ContextTooLong, match="about 10"):
        render(context(item("user", "x" * 4000)), target(context_window=500, max_output_tokens=100))


def test_a_provider_is_not_asked_in_a_dialect_that_it_does_not_speak() -> None:
    with pytest.raises(UnusableTarget):
        render(context(), target("deepseek", "m", "openai-responses"))


def test_a_retry_after_an_empty_reply_drops_more_history() -> None:
    told = [item(role, f"{role} {n}") for n in range(6) for role in ("user", "model")]
    given = context(*told, item("user", "ada: now"), function_history=(exchange(),))
    assert len(render(given, target("openrouter"), retries=2).body["messages"]) == len(told) - 8 + 1 + 2
