"""The official SDK as oracle: its request models accept our bodies, and its client sends the same for the same content.

What a provider wants beyond OpenAI's own API goes through the SDK's `extra_body`, as each provider's manual says.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

from services.context.render import render
from tests.context.openai.conftest import (
    LOOK,
    PNG,
    PNG_URL,
    TALK,
    answered,
    called,
    context,
    exchange,
    item,
    made_by,
    target,
)

CHAT = TypeAdapter(CompletionCreateParamsStreaming)
RESPONSES = TypeAdapter(ResponseCreateParamsStreaming)

SYSTEM = {"role": "system", "content": "Be brief."}
HELLO = {"role": "user", "content": "ada: hello"}
REPLY = {"role": "assistant", "content": "Hello, Ada."}
AND = {"role": "user", "content": "ada: and?"}
TALKED = [SYSTEM, HELLO, REPLY, AND]
SEEN = {"type": "image_url", "image_url": {"url": PNG_URL}}
LOOKED = ChatCompletionMessage.model_validate(
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"what":"the café"}'}}
        ],
    }
).model_dump(exclude_none=True)
FOUND = {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'}
LOOK_TOOL = {
    "type": "function",
    "function": {"name": LOOK.name, "description": LOOK.description, "parameters": LOOK.parameters},
}

MATRIX = {
    "talk": (context(), {"messages": TALKED}),
    "images": (
        context(item("model", "See.", PNG, sender="Mira"), item("user", "ada: ah", PNG)),
        {
            "messages": [
                {"role": "assistant", "content": "See."},
                {"role": "user", "content": [
                    {"type": "text", "text": "[System: The following image was sent by Mira.]"}, SEEN,
                ]},
                {"role": "user", "content": [{"type": "text", "text": "ada: ah"}, SEEN]},
            ]
        },
    ),
    "tools": (
        context(tools=(LOOK,), function_history=(exchange(text="I look."),)),
        {"messages": [*TALKED, LOOKED, FOUND], "tools": [LOOK_TOOL]},
    ),
    "tool images": (
        context(tools=(LOOK,), function_history=(exchange(text="I look.", results=(answered(images=(PNG,)),)),)),
        {
            "messages": [
                *TALKED, LOOKED, FOUND,
                {"role": "user", "content": [
                    {"type": "text", "text": "[System: The following image was returned by look.]"}, SEEN,
                ]},
            ],
            "tools": [LOOK_TOOL],
        },
    ),
    "prefill": (context(options={"prefill": "Once"}), {"messages": [*TALKED, {"role": "assistant", "content": "Once"}]}),
    "options": (
        context(
            options={
                "temperature": 0.7, "top_p": 0.9, "frequency_penalty": 0.5, "presence_penalty": -0.5,
                "max_output_tokens": 99, "logit_bias": [{"text": "42", "bias": -5}],
            }
        ),
        {
            "messages": TALKED, "temperature": 0.7, "top_p": 0.9, "frequency_penalty": 0.5, "presence_penalty": -0.5,
            "max_completion_tokens": 99, "logit_bias": {"42": -5},
        },
    ),
}  # fmt: skip
STOP = ["<｜begin▁of▁sentence｜>"]


@pytest.fixture
async def wire() -> AsyncIterator[tuple[AsyncOpenAI, list[Any]]]:
    """The SDK's client, and the bodies that it sent to a local server."""
    bodies: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append((request.path, json.loads(await request.read())))
        return web.Response(body=b"data: [DONE]\n\n", content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0) as client:
        yield client, bodies
    await runner.cleanup()


def taken(value: Any) -> Any:
    """What a request model kept of a body; reading it checks the parts that pydantic checks only when they are read."""
    if isinstance(value, dict):
        return {key: taken(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) or (isinstance(value, Iterator) or type(value).__name__ == "ValidatorIterator"):
        return [taken(inner) for inner in value]
    return value


@pytest.mark.parametrize("name", MATRIX)
async def test_openais_chat_is_sent_as_the_sdk_sends_it(wire: Any, name: str) -> None:
    client, bodies = wire
    given, said = MATRIX[name]
    await client.chat.completions.create(
        model="gpt-4.1", stream=True, stream_options={"include_usage": True}, stop=STOP, **said
    )
    made = render(given, target("openai", "gpt-4.1"))
    assert bodies == [("/v1/chat/completions", made.body)]
    assert made.url.endswith("/v1/chat/completions")
    assert taken(CHAT.validate_python(made.body)) == made.body


PROVIDERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "openrouter": (
        target("openrouter", "x/y", max_output_tokens=4096),
        {"max_tokens": 4096, "extra_body": {"repetition_penalty": 1.1, "reasoning": {"effort": "low"}}},
    ),
    "deepseek": (
        target("deepseek", "deepseek-chat"),
        {"max_tokens": 4096, "extra_body": {"thinking": {"type": "enabled"}}},
    ),
    "zai": (target("zai", "glm-4.7"), {"max_tokens": 4096, "extra_body": {"thinking": {"type": "enabled"}}}),
    "zaicoding": (
        target("zaicoding", "glm-4.7"),
        {"max_tokens": 4096, "extra_body": {"thinking": {"type": "enabled"}}},
    ),
    "nvidia": (
        target("nvidia", "q/w"),
        {
            "max_tokens": 4096,
            "reasoning_effort": "low",
            "extra_body": {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}},
        },
    ),
    "custom": (
        target("custom", "m", base_url="http://localhost:11434/v1", num_ctx=9000),
        {
            "max_tokens": 4096,
            "reasoning_effort": "low",
            "extra_body": {"repetition_penalty": 1.1, "options": {"num_ctx": 9000}, "max_context_length": 9000},
        },
    ),
}


@pytest.mark.parametrize("name", PROVIDERS)
async def test_other_providers_chat_is_sent_as_the_sdk_sends_it(wire: Any, name: str) -> None:
    client, bodies = wire
    to, said = PROVIDERS[name]
    given = context(options={"thinking_level": "low"}, function_history=(exchange(text="I look."),))
    looked = LOOKED | ({"reasoning_content": ""} if name == "deepseek" else {})
    await client.chat.completions.create(
        model=to.model.codename,
        messages=[*TALKED, looked, FOUND],
        stream=True,
        stream_options={"include_usage": True},
        stop=STOP,
        **said,
    )
    assert bodies[0][1] == render(given, to).body


RESPONSE_MATRIX = {
    "talk": (context(), {"input": TALKED[1:]}),
    "images": (
        context(TALK[0], item("user", "ada: ah", PNG)),
        {
            "input": [
                {"role": "user", "content": [
                    {"type": "input_text", "text": "ada: ah"},
                    {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
                ]},
            ]
        },
    ),
    "tools": (
        context(
            tools=(LOOK,),
            function_history=(
                exchange(
                    calls=(called(),),
                    replay=({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"},),
                ),
            ),
        ),
        {
            "input": [
                *TALKED[1:],
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"},
                {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"what":"the café"}'},
                {"type": "function_call_output", "call_id": "call_1", "output": '{"seen":"a cat"}'},
            ],
            "tools": [{"type": "function", "strict": False} | LOOK_TOOL["function"]],
        },
    ),
    "options": (
        context(options={"thinking_level": "high", "max_output_tokens": 99}),
        {"input": TALKED[1:], "reasoning": {"effort": "high"}, "max_output_tokens": 99},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESPONSE_MATRIX)
async def test_openais_responses_are_sent_as_the_sdk_sends_them(wire: Any, name: str) -> None:
    client, bodies = wire
    given, said = RESPONSE_MATRIX[name]
    await client.responses.create(
        model="gpt-5.1",
        instructions="Be brief.",
        stream=True,
        store=False,
        include=["reasoning.encrypted_content"],
        **said,
    )
    to = target("openai", "gpt-5.1", "openai-responses")
    made = render(made_by(given, to), to)
    assert bodies == [("/v1/responses", made.body)]
    assert taken(RESPONSES.validate_python(made.body)) == made.body


def test_the_oracle_tells_what_openai_would_refuse() -> None:
    made = render(context(), target("openai", "gpt-4.1")).body
    for wrong in ({"messages": [{"role": "nobody"}]}, {"messages": [{"role": "user"}]}, {"stop": 5}):
        with pytest.raises(ValidationError):
            taken(CHAT.validate_python(made | wrong))
    assert taken(CHAT.validate_python(made | {"unknown": 1})) == made
