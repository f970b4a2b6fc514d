"""Requests for Anthropic's messages, in full."""

import pytest
from inline_snapshot import snapshot

from schemas.context import BlobRef, GenerationOptions, OmittedPart, Origin, VideoPart
from services.context.failures import EveryImageFailed
from services.context.render import render as build
from services.context.rendered import BlobText, RenderWarning
from tests.context.native.making import (
    CLAUDE,
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

OWN = Origin(provider="anthropic", dialect="anthropic", model="claude-sonnet-4-6")
SIGNED = {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}


def test_a_conversation_with_tools_in_full() -> None:
    made = build(
        context(
            system("You are Ada."),
            user("Serves: tea", tag="knowledge_server_info"),
            user("grace: hello", message_id="1"),
            user("kay: hi"),
            bot("Ada: Hello, both."),
            user("grace: what is the weather in Kyiv?"),
            tools=(WEATHER,),
            options=GenerationOptions(
                temperature=0.7, top_k=40, stop_strings=("END", " "), speaker_stop=True, persona_name="Ada"
            ),
        ),
        CLAUDE,
    )
    assert made.url == "https://api.anthropic.com/v1/messages"
    assert made.headers == snapshot({"accept": "text/event-stream", "anthropic-version": "2023-06-01"})
    assert made.body == snapshot(
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 8192,
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "grace: hello"}, {"type": "text", "text": "kay: hi"}],
                },
                {"role": "assistant", "content": "Ada: Hello, both."},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": "grace: what is the weather in Kyiv?",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                },
            ],
            "stream": True,
            "system": [
                {
                    "type": "text",
                    "text": """\
You are Ada.

Serves: tea\
""",
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "tools": [
                {
                    "name": "weather",
                    "description": "Say the weather.",
                    "input_schema": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "temperature": 0.7,
            "top_k": 40,
            "stop_sequences": [
                "<｜begin▁of▁sentence｜>",
                "END",
                """\

Ada:\
""",
            ],
        }
    )
    assert (made.warnings, made.added) == snapshot(
        (
            (
                RenderWarning(
                    code="stop_strings_cut",
                    place="options.stop_strings",
                    message="the provider takes none of blanks alone; left out: options.stop_strings[1]",
                ),
            ),
            (),
        )
    )
    assert made.mandatory == snapshot({"max_tokens", "messages", "model", "stream", "system", "tools"})


def test_a_tool_exchange_with_signed_thinking_and_images() -> None:
    made = build(
        context(
            user("grace: what is the weather in Kyiv and Riga?"),
            tools=(WEATHER,),
            function_history=(
                exchange(
                    ("weather", {"city": "Kyiv"}, {"result": {"sky": "clear"}}),
                    ("weather", {"city": "Riga"}, {"result": {"sky": "grey"}}),
                    said="Let me look.",
                    ids=("toolu_1", "toolu_2"),
                    images=(image("kyiv.png"), blob(10, "image/jpeg")),
                    note="Pictures of media_1 and media_2.",
                    replay=(SIGNED, REDACTED),
                    origin=OWN,
                ),
            ),
        ),
        model(CLAUDE, "claude-sonnet-4-6"),
    )
    assert made.body == snapshot(
        {
            "model": "claude-sonnet-4-6",
            "max_tokens": 8192,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": "grace: what is the weather in Kyiv and Riga?",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "b3BhcXVl"},
                        {"type": "text", "text": "Let me look."},
                        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Kyiv"}},
                        {"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {"city": "Riga"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"result":{"sky":"clear"}}'},
                        {"type": "tool_result", "tool_use_id": "toolu_2", "content": '{"result":{"sky":"grey"}}'},
                        {"type": "text", "text": "Pictures of media_1 and media_2."},
                        {"type": "text", "text": '[Image 1: "kyiv.png"]'},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                        {"type": "text", "text": "[Image 2]"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/jpeg",
                                "data": BlobText(blob=BlobRef(key=KEY, size=10)),
                            },
                            "cache_control": {"type": "ephemeral"},
                        },
                    ],
                },
            ],
            "stream": True,
            "tools": [
                {
                    "name": "weather",
                    "description": "Say the weather.",
                    "input_schema": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "thinking": {"type": "adaptive"},
            "stop_sequences": ["<｜begin▁of▁sentence｜>"],
        }
    )


def test_pictures_that_fail_leave_a_notice_and_the_others_keep_their_numbers() -> None:
    gone = OmittedPart(medium="image", index=0, stage="download", reason="gone", name="a.png", status=404)
    made = build(
        context(
            user(gone, image("b.png"), "grace: look", message_id="11"),
            user(blob(5 * 1024 * 1024, name="c.png"), blob(100, "image/tiff"), blob(7, "image/webp"), message_id="12"),
            user(VideoPart(name="clip.mp4"), "kay: and this"),
        ),
        CLAUDE,
    )
    assert made.body["messages"] == snapshot(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": '[System: Image 1 ("a.png") is not shown: it could not be downloaded.]'},
                    {"type": "text", "text": '[Image 2: "b.png"]'},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                    {"type": "text", "text": "grace: look"},
                    {"type": "text", "text": '[System: Image 3 ("c.png") is not shown: it is over a size limit.]'},
                    {"type": "text", "text": "[System: Image 4 is not shown: its format is not supported.]"},
                    {"type": "text", "text": "[Image 5]"},
                    {
                        "type": "image",
                        "source": {
                            "type": "base64",
                            "media_type": "image/webp",
                            "data": BlobText(blob=BlobRef(key=KEY, size=7)),
                        },
                    },
                    {
                        "type": "text",
                        "text": '[System: A video ("clip.mp4") is not shown: this model takes no videos.]',
                    },
                    {"type": "text", "text": "kay: and this", "cache_control": {"type": "ephemeral"}},
                ],
            }
        ]
    )
    assert made.skipped_images == ("11", "12")
    assert [(warning.code, warning.place, warning.message) for warning in made.warnings] == snapshot(
        [
            ("image_skipped", "items[0].parts[0]", "image 0 (a.png): download, status 404"),
            ("image_skipped", "items[1].parts[0]", "image 2 (c.png): limit"),
            ("image_skipped", "items[1].parts[1]", "image 3: validate"),
            ("video_unsupported", "items[2].parts[0]", "the model takes no videos"),
        ]
    )


def test_a_request_whose_pictures_all_failed_is_stopped_and_says_which_failed_how() -> None:
    gone = OmittedPart(medium="image", index=3, stage="download", reason="gone", name="a.png", status=404)
    with pytest.raises(EveryImageFailed) as raised:
        build(context(user(gone, blob(100, "image/tiff", name="b.tiff"), "grace: look")), CLAUDE)
    assert [(part.index, part.name, part.stage, part.status) for part in raised.value.failures] == [
        (0, "a.png", "download", 404),
        (1, "b.tiff", "validate", None),
    ]
    assert PIXEL not in str(raised.value)


def test_a_model_that_sees_nothing_is_told_of_pictures_and_no_picture_counts_as_failed() -> None:
    made = build(context(user(image("a.png"), "grace: look")), model(CLAUDE, "claude-haiku-4-5", sees_images=False))
    assert made.body["messages"] == snapshot(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": '[System: Image 1 ("a.png") is not shown: this model takes no images.]'},
                    {"type": "text", "text": "grace: look", "cache_control": {"type": "ephemeral"}},
                ],
            }
        ]
    )
    assert made.skipped_images == ()


def test_a_blob_stands_for_its_base64() -> None:
    made = build(context(user(blob(9), "grace: look")), CLAUDE)
    (message,) = made.body["messages"]
    assert message["content"][1]["source"]["data"] == BlobText(BlobRef(key=KEY, size=9))
