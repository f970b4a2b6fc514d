"""Anthropic's own SDK as the judge of our requests: it takes them, and sends the same for the same content."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anthropic
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from schemas.context import GenerationOptions, NeutralContext, Origin, TextPart
from services.catalog.target import Target
from services.context.render import render as build
from services.context.strict_chat import OPENING
from tests.context.native.making import CLAUDE, PIXEL, WEATHER, bot, context, exchange, image, model, system, user
from tests.context.native.wire import Wire, listening

SONNET_4_6 = model(CLAUDE, "claude-sonnet-4-6")
STREAM = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
CACHED: Any = {"type": "ephemeral"}
PARAMS: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
STOPS = ["<\uff5cbegin\u2581of\u2581sentence\uff5c>"]

SAME_CONTENT: dict[str, tuple[NeutralContext, Target, dict[str, Any]]] = {
    "text": (
        context(user("grace: hello", tag=None)),
        CLAUDE,
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 8192,
            "messages": [{"role": "user", "content": "grace: hello"}],
            "stop_sequences": STOPS,
        },
    ),
    "sampling, stops and a prefill": (
        context(
            user("grace: hello", tag=None),
            options=GenerationOptions(
                temperature=0.5, top_k=20, stop_strings=("END",), max_output_tokens=99, prefill="Ada:"
            ),
        ),
        CLAUDE,
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": "grace: hello"}, {"role": "assistant", "content": "Ada:"}],
            # The SDK's own API version has no sampling any more.
            "extra_body": {"temperature": 0.5, "top_k": 20},
            "stop_sequences": [*STOPS, "END"],
        },
    ),
    "system text, tools and a cached history": (
        context(system("Be Ada."), bot("Ada: Hi."), user("grace: hello"), tools=(WEATHER,)),
        CLAUDE,
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 8192,
            "system": [anthropic.types.TextBlockParam(type="text", text="Be Ada.", cache_control=CACHED)],
            "messages": [
                {"role": "user", "content": OPENING},
                {"role": "assistant", "content": "Ada: Hi."},
                {"role": "user", "content": [{"type": "text", "text": "grace: hello", "cache_control": CACHED}]},
            ],
            "tools": [
                anthropic.types.ToolParam(
                    name="weather",
                    description="Say the weather.",
                    input_schema={
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                    cache_control=CACHED,
                )
            ],
            "stop_sequences": STOPS,
        },
    ),
    "a picture": (
        context(user(image("a.png"), "grace: look", tag=None)),
        CLAUDE,
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 8192,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": '[Image 1: "a.png"]'},
                        anthropic.types.ImageBlockParam(
                            type="image", source={"type": "base64", "media_type": "image/png", "data": PIXEL}
                        ),
                        {"type": "text", "text": "grace: look"},
                    ],
                }
            ],
            "stop_sequences": STOPS,
        },
    ),
    "thinking around a tool call": (
        context(
            user("grace: weather?", tag=None),
            tools=(WEATHER,),
            function_history=(
                exchange(
                    ("weather", {"city": "Riga"}, {"result": "grey"}),
                    ids=("toolu_1",),
                    said="Wait.",
                    replay=(
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "b3BhcXVl"},
                    ),
                    origin=Origin(provider="anthropic", dialect="anthropic", model="claude-sonnet-4-6"),
                ),
            ),
            current_turn_model_parts=(TextPart(text="It is"),),
            options=GenerationOptions(thinking_level="medium"),
        ),
        Target("custom", "anthropic", model(CLAUDE, "claude-haiku-4-5").model, base_url="http://127.0.0.1:9"),
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 8192,
            "messages": [
                {"role": "user", "content": "grace: weather?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "Wait."},
                        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Riga"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        anthropic.types.ToolResultBlockParam(
                            type="tool_result", tool_use_id="toolu_1", content='{"result":"grey"}'
                        )
                    ],
                },
                {"role": "assistant", "content": "It is"},
            ],
            "tools": [{"name": "weather", "description": "Say the weather.", "input_schema": WEATHER.parameters}],
            "stop_sequences": STOPS,
        },
    ),
    "a model that thinks": (
        context(
            user("grace: weather?", tag=None),
            tools=(WEATHER,),
            function_history=(
                exchange(
                    ("weather", {"city": "Riga"}, {"result": "grey"}),
                    ids=("toolu_1",),
                    replay=(
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "b3BhcXVl"},
                    ),
                    origin=Origin(provider="anthropic", dialect="anthropic", model="claude-sonnet-4-6"),
                ),
            ),
            options=GenerationOptions(thinking_level="medium"),
        ),
        SONNET_4_6,
        {
            "model": "claude-sonnet-4-6",
            "max_tokens": 8192,
            "messages": [
                {"role": "user", "content": "grace: weather?"},
                {
                    "role": "assistant",
                    "content": [
                        anthropic.types.ThinkingBlockParam(type="thinking", thinking="Hm.", signature="c2ln"),
                        anthropic.types.RedactedThinkingBlockParam(type="redacted_thinking", data="b3BhcXVl"),
                        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Riga"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": '{"result":"grey"}',
                            "cache_control": CACHED,
                        }
                    ],
                },
            ],
            "tools": [
                {
                    "name": "weather",
                    "description": "Say the weather.",
                    "input_schema": WEATHER.parameters,
                    "cache_control": CACHED,
                }
            ],
            "thinking": anthropic.types.ThinkingConfigAdaptiveParam(type="adaptive"),
            "output_config": {"effort": "medium"},
            "stop_sequences": STOPS,
        },
    ),
}


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with listening(STREAM) as listened:
        yield listened


async def sent_by_sdk(wire: Wire, **params: Any) -> dict[str, Any]:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=wire.url, max_retries=0) as client:
        async for _ in await client.messages.create(stream=True, **params):
            pass
    return wire.bodies[-1]


def plain(value: Any) -> Any:
    """A validated value as JSON; pydantic reads an Iterable only as it is gone through."""
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, str | int | float | None):
        return value
    return [plain(entry) for entry in value]


@pytest.mark.parametrize("name", SAME_CONTENT)
async def test_the_sdk_sends_the_same_for_the_same_content(name: str, wire: Wire) -> None:
    said, target, params = SAME_CONTENT[name]
    made = build(said, target)
    assert await sent_by_sdk(wire, **params) == made.body
    assert made.url.endswith(wire.paths[-1])
    assert wire.headers[-1].keys() >= made.headers.keys()


@pytest.mark.parametrize("name", SAME_CONTENT)
def test_the_sdks_request_models_take_our_request_and_know_each_of_its_keys(name: str) -> None:
    said, target, params = SAME_CONTENT[name]
    body = build(said, target).body
    assert plain(PARAMS.validate_python(body)) | params.get("extra_body", {}) == body
