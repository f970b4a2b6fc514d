"""The responses API: items, calls, encrypted reasoning and what it does not know."""

from typing import Any

from inline_snapshot import snapshot

from services.context.render import render
from tests.context.openai.conftest import (
    LOOK,
    PNG,
    PNG_URL,
    answered,
    body,
    called,
    context,
    exchange,
    item,
    target,
    warned,
)

TO = target("openai", "gpt-5.1", "openai-responses")
REASONED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz", "status": None}


def items(given: Any, to: Any = TO) -> Any:
    return body(given, to)["input"]


def test_system_text_are_the_instructions_and_nothing_is_stored() -> None:
    made = render(context(), TO).body
    assert made["instructions"] == "Be brief."
    assert made["store"] is False
    assert made["input"][0] == {"role": "user", "content": "ada: hello"}


def test_a_call_is_said_again_behind_the_reasoning_that_led_to_it() -> None:
    given = context(item("user", "ada: look"), function_history=(exchange(text="I look.", replay=(REASONED,)),))
    assert items(given) == snapshot(
        [
            {"role": "user", "content": "ada: look"},
            {"summary": [], "type": "reasoning", "id": "rs_1", "encrypted_content": "xyz"},
            {"role": "assistant", "content": "I look."},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "look",
                "arguments": '{"what":"the café"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": '{"seen":"a cat"}'},
        ]
    )


def test_reasoning_that_only_its_id_names_is_left_out_since_nothing_was_stored() -> None:
    bare = REASONED | {"encrypted_content": None}
    open_text = bare | {"content": [{"type": "reasoning_text", "text": "A cat?"}]}
    given = context(function_history=(exchange(replay=(bare,)), exchange(replay=(open_text,))))
    reasoning = [one for one in items(given) if one.get("type") == "reasoning"]
    assert reasoning == [{"type": "reasoning", "id": "rs_1", "summary": [], "content": open_text["content"]}]


def test_parallel_calls_come_before_their_outputs_and_images_of_tools_last() -> None:
    given = exchange(calls=(called(), called("call_2")), results=(answered("call_2", images=(PNG,)), answered()))
    made = items(context(item("user", "x"), function_history=(given,)))[1:]
    assert [(one.get("type"), one.get("call_id")) for one in made[:4]] == [
        ("function_call", "call_1"),
        ("function_call", "call_2"),
        ("function_call_output", "call_1"),
        ("function_call_output", "call_2"),
    ]
    assert made[4] == {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "[System: The following image was returned by look.]"},
            {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
        ],
    }


def test_encrypted_reasoning_is_asked_for_from_models_that_reason_alone() -> None:
    assert render(context(), TO).body["include"] == ["reasoning.encrypted_content"]
    assert "include" not in render(context(), target("openai", "gpt-4.1", "openai-responses")).body
    assert "include" not in render(context(), target("custom", "m", "openai-responses")).body
    assert "include" in render(context(), target("custom", "m", "openai-responses", is_reasoning=True)).body


def test_tools_are_offered_without_strict_mode() -> None:
    (tool,) = render(context(tools=(LOOK,)), TO).body["tools"]
    assert tool == {
        "type": "function",
        "name": "look",
        "description": "Looks at something.",
        "parameters": LOOK.parameters,
        "strict": False,
    }


def test_what_the_api_does_not_know_is_left_out_with_a_warning() -> None:
    options = {
        "stop_strings": ["x"],
        "logit_bias": [{"text": "5", "bias": 1}],
        "frequency_penalty": 0.5,
        "temperature": 0.5,
    }
    made = render(context(options=options), target("openai", "gpt-4.1", "openai-responses"))
    assert {*made.body} == {"model", "input", "stream", "store", "instructions", "temperature"}
    assert sorted(warned(made)) == [
        ("parameter_dropped", "options.frequency_penalty"),
        ("parameter_dropped", "options.logit_bias[0]"),
        ("stop_strings_cut", "options.stop_strings"),
    ]


def test_an_ordinary_request_warns_of_nothing() -> None:
    assert render(context(), TO).warnings == ()


def test_the_bound_of_the_reply_counts_reasoning_so_it_is_sent_on_wish_alone() -> None:
    assert "max_output_tokens" not in render(context(), TO).body
    assert render(context(options={"max_output_tokens": 99}), TO).body["max_output_tokens"] == 99


def test_the_models_own_words_end_the_items() -> None:
    assert items(context(options={"prefill": "Once"}))[-1] == {"role": "assistant", "content": "Once"}


def test_a_custom_server_is_asked_below_its_base_url() -> None:
    made = render(context(), target("custom", "m", "openai-responses", base_url="http://localhost:1234"))
    assert made.url == "http://localhost:1234/v1/responses"
    assert made.mandatory == {"model", "input", "instructions", "stream", "store"}
