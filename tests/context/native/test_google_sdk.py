"""Google's own SDK as the judge of our requests: it takes them, and sends the same for the same content."""

import base64
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials
from hypothesis import given

from schemas.context import GenerationOptions, NeutralContext, Origin, TextPart, VideoPart
from services.catalog.providers import vertex_base_url
from services.catalog.target import Target
from services.context.dialects.google.generation import SAFETY_SETTINGS
from services.context.render import render as build
from services.context.rendered import BlobText
from tests.context.native.making import GEMINI, PIXEL, WEATHER, bot, context, exchange, image, model, system, user
from tests.context.native.strategies import contexts, patient
from tests.context.native.wire import Wire, listening

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

GEMINI_3 = model(GEMINI, "gemini-3-flash-preview")
VERTEX = replace(GEMINI, provider="vertex", base_url=vertex_base_url("my-project", "europe-west4"))
EXPRESS = replace(GEMINI, provider="vertexexpress")
STREAM = 'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n'
LINK = "https://www.youtube.com/watch?v=aaaaaaaaaaa"
STOPS = ["<\uff5cbegin\u2581of\u2581sentence\uff5c>"]
SAFETY = [types.SafetySetting(**setting) for setting in SAFETY_SETTINGS]  # type: ignore[arg-type]

SAID = context(
    system("Be Ada."),
    bot("Ada: Hi."),
    user(image(), VideoPart(uri=LINK, is_youtube_link=True, enhanced_context=True), "grace: look"),
    tools=(WEATHER,),
    options=GenerationOptions(temperature=0.5, top_k=20, stop_strings=("END",), max_output_tokens=99),
)
SAME_SAID: dict[str, Any] = {
    "contents": [
        types.ModelContent("Ada: Hi."),
        types.UserContent(
            [
                types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png"),
                types.Part.from_uri(file_uri=LINK, mime_type="video/mp4"),
                types.Part.from_text(text="grace: look"),
            ]
        ),
    ],
    "config": types.GenerateContentConfig(
        system_instruction="Be Ada.",
        temperature=0.5,
        top_k=20,
        max_output_tokens=99,
        stop_sequences=[*STOPS, "END"],
        thinking_config=types.ThinkingConfig(thinking_budget=-1),
        safety_settings=SAFETY,
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(
                        name="weather",
                        description="Say the weather.",
                        parameters=types.Schema(
                            type=types.Type.OBJECT,
                            properties={"city": types.Schema(type=types.Type.STRING)},
                            required=["city"],
                        ),
                    )
                ]
            )
        ],
    ),
}

SAME_CONTENT: dict[str, tuple[NeutralContext, Target, dict[str, Any]]] = {
    "text, media and tools": (SAID, GEMINI, SAME_SAID),
    "the same at Vertex": (SAID, VERTEX, SAME_SAID),
    "the same at Vertex Express": (SAID, EXPRESS, SAME_SAID),
    "signed parts and images of tools": (
        context(
            user("grace: weather?"),
            function_history=(
                exchange(
                    ("weather", {"city": "Riga"}, {"result": "grey"}),
                    images=(image(),),
                    note="A picture.",
                    replay=(
                        {"text": "Hm.", "thought": True},
                        {
                            "functionCall": {"id": "fc-1", "name": "weather", "args": {"city": "Riga"}},
                            "thoughtSignature": "c2ln",
                        },
                    ),
                    origin=Origin(provider="google", dialect="google", model="gemini-3-flash-preview"),
                ),
            ),
            current_turn_model_parts=(TextPart(text="It is"),),
            options=GenerationOptions(thinking_level="low"),
        ),
        GEMINI_3,
        {
            "contents": [
                types.UserContent("grace: weather?"),
                types.ModelContent(
                    [
                        types.Part(text="Hm.", thought=True),
                        types.Part(
                            function_call=types.FunctionCall(id="fc-1", name="weather", args={"city": "Riga"}),
                            thought_signature=b"sig",
                        ),
                    ]
                ),
                types.UserContent(
                    [
                        types.Part(
                            function_response=types.FunctionResponse(
                                id="fc-1", name="weather", response={"result": "grey"}
                            )
                        )
                    ]
                ),
                types.UserContent(
                    [
                        types.Part.from_text(text="A picture."),
                        types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png"),
                    ]
                ),
                types.ModelContent("It is"),
            ],
            "config": types.GenerateContentConfig(
                max_output_tokens=8192,
                stop_sequences=STOPS,
                thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
                safety_settings=SAFETY,
            ),
        },
    ),
}


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with listening(STREAM) as listened:
        yield listened


async def sent_by_sdk(wire: Wire, target: Target, **params: Any) -> dict[str, Any]:
    # The versions of the catalog; the SDK's own ones change with its releases.
    options = types.HttpOptions(base_url=wire.url, api_version="v1beta" if target.provider == "google" else "v1")
    match target.provider:
        case "vertex":
            client = genai.Client(
                vertexai=True,
                project="my-project",
                location="europe-west4",
                credentials=Credentials(token="t"),
                http_options=options,
            )
        case "vertexexpress":
            client = genai.Client(vertexai=True, api_key="k", http_options=options)
        case _:
            client = genai.Client(api_key="k", http_options=options)
    async with client.aio as asynchronous:
        async for _ in await asynchronous.models.generate_content_stream(model=target.model.codename, **params):
            pass
    return wire.bodies[-1]


def in_camel_case(value: Any) -> Any:
    """JSON under one spelling of names; Google takes both, and its SDK mixes them.

    https://protobuf.dev/programming-guides/json
    """
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda found: found[1].upper(), key): in_camel_case(value[key]) for key in value}
    return [in_camel_case(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", SAME_CONTENT)
async def test_the_sdk_sends_the_same_for_the_same_content_to_the_same_path(name: str, wire: Wire) -> None:
    said, target, params = SAME_CONTENT[name]
    made = build(said, target)
    assert in_camel_case(await sent_by_sdk(wire, target, **params)) == made.body
    assert made.url.endswith(f".googleapis.com{wire.paths[-1]}")


def taken(body: dict[str, Any]) -> dict[str, Any]:
    """What the SDK's request models make of a body; they refuse keys that they do not know."""
    rest = {key: value for key, value in body.items() if key not in ("contents", "generationConfig")}
    types.GenerateContentConfig.model_validate({**body["generationConfig"], **rest})
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    return {"contents": [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]}


@pytest.mark.parametrize("name", SAME_CONTENT)
def test_the_sdks_request_models_take_our_request(name: str) -> None:
    said, target, _ = SAME_CONTENT[name]
    body = build(said, target).body
    assert taken(body)["contents"] == body["contents"]


@patient
@given(contexts)
def test_the_sdks_request_models_take_any_request(said: NeutralContext) -> None:
    body = _with_texts(build(said, GEMINI_3).body)
    assert taken(body)["contents"] == body["contents"]


def _with_texts(value: Any) -> Any:
    """The body as it is sent: a text where a blob's base64 will stand."""
    if isinstance(value, BlobText):
        return "AAAA"
    if isinstance(value, dict):
        return {key: _with_texts(entry) for key, entry in value.items()}
    return [_with_texts(entry) for entry in value] if isinstance(value, list) else value
