"""Requests for NovelAI, in full, and what its prompts keep out. Nothing here was recorded from NovelAI itself."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.context import GenerationOptions, NeutralContext, TextPart, ToolDeclaration
from schemas.prompts import KnownTool
from services.context.dialects.novelai.glm_prompt import unmarked
from services.context.failures import UnusableTarget
from services.context.render import render as build
from services.context.tools.names import wire_name
from tests.context.native.making import GLM, KAYRA, WEATHER, bot, context, exchange, image, model, system, user
from tests.context.native.strategies import contexts, patient, said_texts, stand_in_order
from tests.context.reading import reply_to

HELLO = user("grace: hello")
SAID = context(
    system("You are Ada."),
    user("Serves: tea", tag="knowledge_server_info"),
    user(":smile: :cat:", tag="knowledge_server_emojis"),
    user("a sticker", tag="knowledge_server_stickers"),
    user("kay: how are you?", tag="dialogue_sample"),
    bot("Ada: Splendid.", tag="dialogue_sample"),
    user(image("cat.png"), "grace: look"),
    bot("Ada: I see."),
    user("grace: what is the weather?"),
    tools=(WEATHER,),
    options=GenerationOptions(
        temperature=0.7, min_p=0.05, stop_strings=("END",), speaker_stop=True, persona_name="Ada"
    ),
)


def prompt(said: NeutralContext) -> str:
    made: Any = build(said, GLM).body
    return made["prompt"]


def test_a_glm_request_in_full() -> None:
    made = build(SAID, GLM)
    assert made.url == "https://text.novelai.net/oa/v1/completions"
    assert made.body == snapshot(
        {
            "model": "glm-4-6",
            "prompt": """\
[gMASK]<sop><|system|>
# Tools

You can call these functions, one a line with its parameters as a JSON Schema:
<tools>
{"name":"weather","description":"Say the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}
</tools>

To call one, end your reply with its name and arguments in this form:
<tool_call>name
<arg_key>key</arg_key>
<arg_value>value</arg_value>
</tool_call>
A value that is not a text is JSON. You get the result between <tool_response> and </tool_response>.
<|system|>
You are Ada.

Serves: tea
<|user|>
kay: how are you?
<|assistant|>
<think></think>
Ada: Splendid.
<|user|>
[System: An image ("cat.png") is not shown: this model takes no images.]
grace: look
<|assistant|>
<think></think>
Ada: I see.
<|user|>
grace: what is the weather?
<|assistant|>\
""",  # noqa: E501
            "stream": True,
            "max_tokens": 4096,
            "top_p": 0.95,
            "top_k": 40,
            "presence_penalty": 0.5,
            "temperature": 0.7,
            "min_p": 0.05,
            "stop": [
                "<｜begin▁of▁sentence｜>",
                "<|user|>",
                "<|observation|>",
                "<|system|>",
                "END",
                """\

Ada:\
""",
            ],
        }
    )
    assert [(warning.code, warning.place) for warning in made.warnings] == snapshot(
        [("image_unsupported", "items[6].parts[0]")]
    )
    assert (made.mandatory, made.added) == snapshot(
        ({"model", "prompt", "stream"}, ("top_p", "top_k", "presence_penalty"))
    )


def test_a_glm_request_with_a_tools_result_in_full() -> None:
    history = (
        exchange(
            ("weather", {"city": "Riga", "days": 2}, {"result": "grey"}),
            said="\nWait.\n\n",
            images=(image("riga.png"),),
        ),
    )
    said = context(HELLO, tools=(), function_history=history, options=GenerationOptions(thinking_level="none"))
    assert prompt(said) == snapshot("""\
[gMASK]<sop><|user|>
grace: hello/nothink
<|assistant|>
<think></think>
Wait.
<tool_call>weather
<arg_key>city</arg_key>
<arg_value>Riga</arg_value>
<arg_key>days</arg_key>
<arg_value>2</arg_value>
</tool_call>
<|observation|>
<tool_response>
{"result":"grey"}
</tool_response>
<|user|>
[System: The following image was returned by weather.]
[System: An image ("riga.png") is not shown: this model takes no images.]
<|assistant|>
<think></think>
""")


def test_tools_are_known_by_the_names_of_the_prompt_and_only_where_it_tells_of_them() -> None:
    odd = ToolDeclaration(name="web.search", parameters={"properties": {"q": {"type": ["string", "null"]}}})
    made = build(context(HELLO, tools=(WEATHER, odd)), GLM)
    first, second = made.known_tools
    assert first == KnownTool(name="weather", needs_arguments=True, texts={"city": ()})
    assert (second.needs_arguments, second.texts) == (False, {"q": ("null",)})
    assert f'"name":"{second.name}"' in str(made.body["prompt"])
    assert (
        build(context(HELLO, tools=(WEATHER,), options=GenerationOptions(tools_enabled=False)), GLM).known_tools == ()
    )
    assert build(context(HELLO, tools=(WEATHER,)), KAYRA).known_tools == ()


MARKED = st.lists(
    st.sampled_from(
        ["<tool_call>weather", "</tool_call>", "<arg_key>", "</arg_value>", "<think>", "[gMASK]", "<|user|>", "12"]
    )
    | st.text(max_size=4),
    max_size=4,
).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner | MARKED, max_size=3) | st.dictionaries(MARKED, inner | MARKED, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["weather", "web.search"]),
        st.fixed_dictionaries(
            {}, optional={"city": MARKED, "maybe": st.none() | MARKED, "n": VALUES, "at <x>": VALUES}
        ),
    ),
    min_size=1,
    max_size=3,
)
TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
TAKING = {"type": "object", "properties": {"city": {"type": "string"}, "maybe": TEXT_OR_NULL, "n": {"type": "number"}}}


def deep_unmarked(value: Any) -> Any:
    match value:
        case str():
            return unmarked(value)
        case list():
            return [deep_unmarked(one) for one in value]
        case dict():
            return {unmarked(key): deep_unmarked(one) for key, one in value.items()}
        case _:
            return value


@patient
@given(CALLS, st.integers(1, 40))
def test_a_call_in_the_prompt_is_read_as_the_same_call(called: list[tuple[str, dict[str, Any]]], size: int) -> None:
    tools = tuple(ToolDeclaration(name=name, parameters=TAKING) for name in ("weather", "web.search"))
    history = (exchange(*((name, args, {}) for name, args in called)),)
    made: Any = build(context(HELLO, tools=tools, function_history=history), GLM)
    _, _, behind = made.body["prompt"].partition("<|assistant|>\n<think></think>\n")
    text, _, _ = behind.partition("\n<|observation|>")
    reply = reply_to(made, "novelai", "novelai", [text[at : at + size] for at in range(0, len(text), size)])
    assert [call.name for call in reply.calls] == [wire_name(name) for name, _ in called]
    assert [call.args for call in reply.calls] == [
        {key: None if args[key] in (None, "null") and key == "maybe" else deep_unmarked(args[key]) for key in args}
        for _, args in called
    ]
    assert (reply.text.strip(), reply.error) == ("", None)


def test_a_story_in_full() -> None:
    made = build(SAID, KAYRA)
    assert made.url == "https://text.novelai.net/ai/generate-stream"
    assert made.body == snapshot(
        {
            "input": """\
[ Author: Ada; Title: Chat with Ada; Tags: chat, dialogue; Genre: chat ]
[ Style: chat ]
***
You are Ada.

Serves: tea
***
kay: how are you?
Ada: Splendid.
***
[System: An image ("cat.png") is not shown: this model takes no images.]
grace: look
Ada: I see.
grace: what is the weather?
Ada: \
""",
            "model": "kayra-v1",
            "parameters": {"use_string": True, "max_length": 150, "min_length": 1, "temperature": 0.7, "min_p": 0.05},
        }
    )
    assert [(warning.code, warning.place) for warning in made.warnings] == snapshot(
        [
            ("image_unsupported", "items[6].parts[0]"),
            ("tools_dropped", "tools"),
            ("stop_strings_cut", "options.stop_strings"),
        ]
    )


def test_lists_of_emoji_and_stickers_are_left_out() -> None:
    for target in (GLM, KAYRA):
        assert ":smile:" not in str(build(SAID, target).body)
        assert "a sticker" not in str(build(SAID, target).body)


@pytest.mark.parametrize(
    ("level", "end", "stops_at_thoughts"),
    [("auto", "hello\n<|assistant|>", False), ("none", "hello/nothink\n<|assistant|>\n<think></think>\n", True)],
)
def test_whether_glm_thinks_is_said_in_its_prompt(level: Any, end: str, stops_at_thoughts: bool) -> None:
    made: Any = build(context(HELLO, options=GenerationOptions(thinking_level=level)), GLM).body
    assert made["prompt"].endswith(end)
    assert ("</think>" in made["stop"]) is stops_at_thoughts


@pytest.mark.parametrize(
    "said",
    [
        context(HELLO, options=GenerationOptions(prefill="Ada: Well,")),
        context(HELLO, bot("Ada: Well,"), options=GenerationOptions(prefill="Ada: Well,")),
        context(HELLO, current_turn_model_parts=(TextPart(text="Ada: Well,"),)),
    ],
)
def test_a_reply_that_has_begun_goes_on_where_it_stopped(said: NeutralContext) -> None:
    assert prompt(said).endswith("<|assistant|>\n<think></think>\nAda: Well,")
    story: Any = build(
        said.model_copy(update={"options": said.options.model_copy(update={"persona_name": "Ada"})}), KAYRA
    )
    assert story.body["input"].endswith("\ngrace: hello\nAda: Well,")


@pytest.mark.parametrize(
    "mark", ["<|system|>", "[gMASK]<sop>", "</tool_response>", "</arg_value>", "<think>", "<|assistant|>"]
)
def test_what_people_write_opens_no_role(mark: str) -> None:
    def marks(text: str) -> int:
        history = (exchange(("weather", {text: text}, {text: text}), said=text),)
        said = context(system(text), user(f"grace: {text}"), bot(text), tools=(WEATHER,), function_history=history)
        return prompt(said).count(mark)

    assert marks(f"a{mark}b") == marks("harmless") >= 0


def test_other_brackets_stay_as_they_are() -> None:
    assert unmarked("a < b [x] |> <b> <|x|>") == "a < b [x] |> <b> <|x|>"


def test_the_reply_gets_what_the_prompt_leaves_of_the_window() -> None:
    def longest(letters: int, **options: Any) -> Any:
        said = context(user("x" * letters), options=GenerationOptions(thinking_level="none", **options))
        made = build(said, GLM)
        return made.body["max_tokens"], len(made.warnings)

    assert longest(10) == (4096, 0)
    assert longest(10, max_output_tokens=100) == (100, 0)
    assert 50 < longest(25_000)[0] < 4096
    assert longest(100_000) == (50, 0)
    assert longest(100_000, max_output_tokens=100) == (50, 1)


def test_usual_sampling_stands_only_where_the_user_said_nothing() -> None:
    made: Any = build(
        context(HELLO, options=GenerationOptions(top_p=0.5, disabled_parameters=("presence_penalty",))), GLM
    ).body
    assert (made["top_p"], made["top_k"], "presence_penalty" in made) == (0.5, 40, False)


def test_a_story_is_at_most_150_tokens_long() -> None:
    made: Any = build(context(HELLO, options=GenerationOptions(max_output_tokens=400)), KAYRA)
    assert made.body["parameters"]["max_length"] == 150
    assert [warning.code for warning in made.warnings] == ["parameter_clamped"]


def test_a_personas_name_cannot_end_the_attributes_of_its_story() -> None:
    made: Any = build(context(HELLO, options=GenerationOptions(persona_name="A ]\n[ Style: x;")), KAYRA).body
    assert made["input"].splitlines()[0].count("[") == made["input"].splitlines()[0].count("]") == 1


def test_where_a_request_goes() -> None:
    assert build(SAID, replace(GLM, base_url="http://127.0.0.1:9/")).url == "http://127.0.0.1:9/oa/v1/completions"
    erato = replace(model(KAYRA, "llama-3-erato-v1"), base_url="http://127.0.0.1:9/ai/generate-stream")
    assert build(SAID, erato).url == "http://127.0.0.1:9/ai/generate-stream"
    with pytest.raises(UnusableTarget):
        build(SAID, replace(GLM, base_url="file:///etc"))


@patient
@given(contexts)
def test_all_that_was_said_is_there_in_its_order(said: NeutralContext) -> None:
    assert stand_in_order([unmarked(text) for text in said_texts(said)], prompt(said))


@patient
@given(contexts)
def test_a_prompt_begins_with_glms_mark_and_its_last_role_is_the_models(said: NeutralContext) -> None:
    text = prompt(said)
    assert text.startswith("[gMASK]<sop>")
    assert text.rfind("<|assistant|>") == max(
        text.rfind(f"<|{role}|>") for role in ("system", "user", "assistant", "observation")
    )
    assert "\n<|assistant|>" in text
