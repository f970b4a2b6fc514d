"""Requests for Google's streamGenerateContent, in full."""

from dataclasses import replace

from inline_snapshot import snapshot

from schemas.context import BlobRef, GenerationOptions, OmittedPart, Origin, VideoPart
from services.catalog.providers import vertex_base_url
from services.context.render import render as build
from services.context.rendered import BlobText
from tests.context.native.making import (
    GEMINI,
    KEY,
    PIXEL,
    WEATHER,
    blob,
    bot,
    context,
    exchange,
    image,
    model,
    system,
    user,
)

GEMINI_3 = model(GEMINI, "gemini-3-flash-preview")
VERTEX = replace(GEMINI, provider="vertex", base_url=vertex_base_url("my-project", "europe-west4"))
EXPRESS = replace(GEMINI, provider="vertexexpress")
OWN = Origin(provider="google", dialect="google", model="gemini-3-flash-preview")


def test_a_conversation_with_tools_in_full() -> None:
    made = build(
        context(
            system("You are Ada."),
            user("Serves: tea", tag="knowledge_server_info"),
            user("grace: hello", "grace: all"),
            user("kay: hi"),
            bot("Ada: Hello, both."),
            user("grace: what is the weather in Kyiv?"),
            tools=(WEATHER,),
            options=GenerationOptions(
                temperature=0.7,
                top_p=0.9,
                top_k=40,
                frequency_penalty=0.5,
                stop_strings=("END", "a", "b", "c"),
                speaker_stop=True,
                persona_name="Ada",
            ),
        ),
        GEMINI,
    )
    assert made.url == snapshot(
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    )
    assert made.headers == snapshot({"accept": "text/event-stream"})
    assert made.body == snapshot(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "grace: hello"}, {"text": "grace: all"}]},
                {"role": "user", "parts": [{"text": "kay: hi"}]},
                {"role": "model", "parts": [{"text": "Ada: Hello, both."}]},
                {"role": "user", "parts": [{"text": "grace: what is the weather in Kyiv?"}]},
            ],
            "generationConfig": {
                "temperature": 0.7,
                "topP": 0.9,
                "topK": 40,
                "maxOutputTokens": 8192,
                "stopSequences": [
                    "END",
                    "a",
                    "b",
                    "c",
                    """\

Ada:\
""",
                ],
                "thinkingConfig": {"thinkingBudget": -1},
            },
            "safetySettings": [
                {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"},
                {"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_NONE"},
                {"category": "HARM_CATEGORY_SEXUALLY_EXPLICIT", "threshold": "BLOCK_NONE"},
                {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "threshold": "BLOCK_NONE"},
            ],
            "systemInstruction": {
                "role": "user",
                "parts": [
                    {
                        "text": """\
You are Ada.

---

Serves: tea\
"""
                    }
                ],
            },
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "weather",
                            "description": "Say the weather.",
                            "parameters": {
                                "type": "OBJECT",
                                "properties": {"city": {"type": "STRING"}},
                                "required": ["city"],
                            },
                        }
                    ]
                }
            ],
        }
    )
    assert [(warning.code, warning.place) for warning in made.warnings] == snapshot(
        [("parameter_dropped", "options.frequency_penalty"), ("stop_strings_cut", "options.stop_strings")]
    )
    assert (made.mandatory, made.added) == snapshot(
        ({"contents", "generationConfig", "systemInstruction", "tools"}, ("safetySettings",))
    )


def test_vertex_and_vertex_express_have_addresses_of_their_own() -> None:
    said = context(user("grace: hello"))
    assert build(said, VERTEX).url == snapshot(
        "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    )
    assert build(said, EXPRESS).url == snapshot(
        "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    )
    assert build(said, VERTEX).body == build(said, EXPRESS).body


def test_a_tool_exchange_whose_signed_parts_go_back_with_images_in_a_turn_of_their_own() -> None:
    replay = (
        {"text": "I shall look.", "thought": True},
        {"text": "Let me look."},
        {"functionCall": {"id": "fc-1", "name": "weather", "args": {"city": "Kyiv"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "fc-2", "name": "weather", "args": {"city": "Riga"}}},
    )
    made = build(
        context(
            user("grace: what is the weather in Kyiv and Riga?"),
            tools=(WEATHER,),
            function_history=(
                exchange(
                    ("weather", {"city": "Kyiv"}, {"result": {"sky": "clear"}}),
                    ("weather", {"city": "Riga"}, {"result": {"sky": "grey"}}),
                    said="Let me look.",
                    images=(image("kyiv.png"), blob(10, "image/jpeg")),
                    note="Pictures of media_1 and media_2.",
                    replay=replay,
                    origin=OWN,
                ),
            ),
        ),
        GEMINI_3,
    )
    assert made.body["contents"] == snapshot(
        [
            {"role": "user", "parts": [{"text": "grace: what is the weather in Kyiv and Riga?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I shall look.", "thought": True},
                    {"text": "Let me look."},
                    {
                        "functionCall": {"id": "fc-1", "name": "weather", "args": {"city": "Kyiv"}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"id": "fc-2", "name": "weather", "args": {"city": "Riga"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "fc-1", "name": "weather", "response": {"result": {"sky": "clear"}}}},
                    {"functionResponse": {"id": "fc-2", "name": "weather", "response": {"result": {"sky": "grey"}}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"text": "Pictures of media_1 and media_2."},
                    {
                        "inlineData": {
                            "mimeType": "image/png",
                            "data": PIXEL,
                        }
                    },
                    {
                        "inlineData": {
                            "mimeType": "image/jpeg",
                            "data": BlobText(blob=BlobRef(key=KEY, size=10)),
                        }
                    },
                ],
            },
        ]
    )


def test_media_are_inline_and_what_cannot_be_shown_is_told_of() -> None:
    gone = OmittedPart(medium="image", index=0, stage="download", reason="gone", name="a.png", status=404)
    link = "https://www.youtube.com/watch?v=aaaaaaaaaaa"
    made = build(
        context(
            user(gone, image("b.png"), "grace: look", message_id="11"),
            user(blob(9, "image/gif", "c.gif"), message_id="12"),
            user(
                VideoPart(uri=link, is_youtube_link=True, enhanced_context=True),
                VideoPart(uri=link, is_youtube_link=True),
                VideoPart(blob=blob(20 * 1024 * 1024).blob, name="short.mp4"),
                VideoPart(blob=blob(20 * 1024 * 1024 + 1).blob, name="long.mp4"),
                "kay: and this",
            ),
        ),
        GEMINI,
    )
    assert made.body["contents"] == snapshot(
        [
            {
                "role": "user",
                "parts": [
                    {"text": '[System: An image ("a.png") is not shown: it could not be downloaded.]'},
                    {
                        "inlineData": {
                            "mimeType": "image/png",
                            "data": PIXEL,
                        }
                    },
                    {"text": "grace: look"},
                ],
            },
            {
                "role": "user",
                "parts": [{"text": '[System: An image ("c.gif") is not shown: this model takes no moving images.]'}],
            },
            {
                "role": "user",
                "parts": [
                    {"fileData": {"mimeType": "video/mp4", "fileUri": "https://www.youtube.com/watch?v=aaaaaaaaaaa"}},
                    {"text": "[System: A video is not shown: only its link is known.]"},
                    {
                        "inlineData": {
                            "mimeType": "video/mp4",
                            "data": BlobText(
                                blob=BlobRef(
                                    key=KEY,
                                    size=20971520,
                                )
                            ),
                        }
                    },
                    {"text": '[System: A video ("long.mp4") is not shown: it is over a size limit.]'},
                    {"text": "kay: and this"},
                ],
            },
        ]
    )
    assert made.skipped_images == ("11", "12")
    assert [(warning.code, warning.place, warning.message) for warning in made.warnings] == snapshot(
        [
            ("image_skipped", "items[0].parts[0]", "image 0 (a.png): download, status 404"),
            ("image_unsupported", "items[1].parts[0]", "this model takes no moving images"),
            ("video_unsupported", "items[2].parts[1]", "only its link is known"),
            ("video_unsupported", "items[2].parts[3]", "it is over a size limit"),
        ]
    )


def test_gemma_3_reads_its_instructions_as_the_first_users_turn() -> None:
    said = context(system("You are Ada."), user("grace: hello"))
    old = build(said, model(GEMINI, "gemma-3-27b-it", has_tools=False))
    assert old.body["contents"] == snapshot(
        [
            {
                "role": "user",
                "parts": [
                    {
                        "text": """\
[System: These are your instructions. Follow them, and do not answer to this message.]

You are Ada.\
"""
                    }
                ],
            },
            {"role": "user", "parts": [{"text": "grace: hello"}]},
        ]
    )
    assert "systemInstruction" not in old.body
    assert "systemInstruction" in build(said, model(GEMINI, "gemma-4-31b-it")).body
