"""System text, dialogue and media as chat messages."""

import pytest
from inline_snapshot import snapshot

from schemas.context import TextPart
from services.context.render import render
from services.context.rendered import BlobText
from tests.context.openai.conftest import (
    BLOB,
    GIF,
    LOST,
    PNG,
    PNG_URL,
    TALK,
    VIDEO,
    YOUTUBE,
    context,
    exchange,
    item,
    messages,
    target,
    warned,
)


def test_system_text_comes_first_and_dialogue_follows_in_order() -> None:
    given = context(
        item("system", "Be brief."),
        item("user", "You are a spool.", tag="system_personality"),
        item("user", "ada: hello"),
        item("user", "Ada is here.", tag="knowledge_users_in_conversation"),
        item("model", "Hello.", " Ada."),
        item("user", " "),
    )
    assert messages(given) == [
        {"role": "system", "content": "Be brief.\n\nYou are a spool."},
        {"role": "user", "content": "ada: hello"},
        {"role": "user", "content": "Ada is here."},
        {"role": "assistant", "content": "Hello.\n Ada."},
    ]


def test_a_turn_of_texts_is_one_string_and_a_turn_with_media_a_list_in_order() -> None:
    given = context(item("user", PNG, "one", BLOB, "two"), item("user", "three", "four"))
    assert messages(given) == [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": PNG_URL}},
                {"type": "text", "text": "one"},
                {"type": "image_url", "image_url": {"url": BlobText(BLOB.blob, "data:image/jpeg;base64,")}},
                {"type": "text", "text": "two"},
            ],
        },
        {"role": "user", "content": "three\nfour"},
    ]


def test_media_of_the_model_move_into_a_users_turn_that_names_the_sender() -> None:
    given = context(item("model", "Look!", PNG, BLOB, sender="Mira"), item("model", PNG), options=None)
    assert [(message["role"], message["content"]) for message in messages(given)] == [
        ("assistant", "Look!"),
        (
            "user",
            [
                {"type": "text", "text": "[System: The following images were sent by Mira.]"},
                {"type": "image_url", "image_url": {"url": PNG_URL}},
                {"type": "image_url", "image_url": {"url": BlobText(BLOB.blob, "data:image/jpeg;base64,")}},
            ],
        ),
        (
            "user",
            [
                {"type": "text", "text": "[System: The following image was sent]"},
                {"type": "image_url", "image_url": {"url": PNG_URL}},
            ],
        ),
    ]


@pytest.mark.parametrize(
    ("part", "facts", "told", "warning"),
    [
        (PNG, {"sees_images": False}, 'An image ("cat.png") is not shown: this model takes no images', "image_unsupported"),
        (GIF, {}, "An image is not shown: animations cannot be shown", "image_unsupported"),
        (LOST, {}, 'An image ("dog.png") is not shown: it could not be downloaded', "image_skipped"),
        (PNG.model_copy(update={"inline_data": None}), {}, 'An image ("cat.png") is not shown: it could not be downloaded',
         "image_skipped"),
        (VIDEO, {"sees_videos": True}, "A video is not shown: this model takes no videos", "video_unsupported"),
        (YOUTUBE, {"sees_youtube": True}, "A video is not shown: this model takes no videos", "video_unsupported"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_told_and_warned_of(
    part: object, facts: dict[str, bool], told: str, warning: str
) -> None:
    made = render(context(TALK[0], item("user", "ada: see", part, message_id="77")), target(**facts))
    assert made.body["messages"][-1]["content"] == f"ada: see\n[System: {told}.]"
    assert warned(made) == [(warning, "items[1].parts[1]")]
    assert made.skipped_images == (() if warning == "video_unsupported" else ("77",))


def test_warnings_name_the_place_in_the_context_that_was_given() -> None:
    made = render(context(item("model", "a"), item("model", "b", GIF), item("user", LOST)), target())
    assert warned(made) == [("image_unsupported", "items[1].parts[1]"), ("image_skipped", "items[2].parts[0]")]


def test_a_router_is_sent_videos_and_links_that_a_tool_asked_for() -> None:
    to = target("openrouter", sees_videos=True, sees_youtube=True)
    (message,) = messages(context(item("user", VIDEO, YOUTUBE)), to)
    assert message["content"] == [
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
        {"type": "video_url", "video_url": {"url": YOUTUBE.uri}},
    ]


def test_an_ordinary_link_to_a_video_is_not_passed_on() -> None:
    link = YOUTUBE.model_copy(update={"enhanced_context": False})
    made = render(context(item("user", link)), target("openrouter", sees_youtube=True))
    assert warned(made) == [("video_unsupported", "items[0].parts[0]")]
    assert "youtube" not in str(made.body)


def test_no_address_of_an_image_is_sent() -> None:
    image = PNG.model_copy(update={"uri": "https://cdn.example/secret"})
    given = context(
        item("user", image), item("model", image), item("user", image.model_copy(update={"inline_data": None}))
    )
    assert "cdn.example" not in str(render(given, target()))


def test_what_the_model_has_said_already_is_the_last_turn() -> None:
    given = context(function_history=(exchange(text="I look."),), current_turn_model_parts=(TextPart(text="A cat"),))
    assert [message["role"] for message in messages(given)] == [
        "system", "user", "assistant", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert messages(given)[-1] == {"role": "assistant", "content": "A cat"}


def test_a_prefill_is_the_last_turn_once() -> None:
    assert messages(context(options={"prefill": "Once"}))[-1] == {"role": "assistant", "content": "Once"}
    ended = context(*TALK, item("model", "Once"), options={"prefill": "Once"})
    assert messages(ended) == messages(context(options={"prefill": "Once"}))


def test_a_reply_that_has_begun_needs_no_prefill() -> None:
    begun = context(options={"prefill": "Once"}, current_turn_model_parts=(TextPart(text="Once upon"),))
    assert messages(begun)[-1]["content"] == "Once upon"
    looked = context(options={"prefill": "Once"}, function_history=(exchange(text="Once I looked."),))
    assert messages(looked)[-1]["role"] == "tool"


def test_a_loopback_server_for_chatgpt_gets_system_text_as_a_users_turn() -> None:
    assert messages(context(), target(base_url="http://127.0.0.1:8000/v1"))[0] == snapshot(
        {"role": "user", "content": "Be brief."}
    )
    assert messages(context(), target(base_url="http://127.0.0.1:8001/v1"))[0]["role"] == "system"


def test_alternation_on_merges_turns_and_off_leaves_them() -> None:
    given = context(item("model", "a"), item("user", "b"), item("user", PNG, "c"), function_history=(exchange(),))
    strict = messages(given, target(strict_role_alternation=True))
    assert [message["role"] for message in strict] == ["user", "assistant", "user", "assistant", "tool"]
    assert strict[2]["content"][0] == {"type": "text", "text": "b"}
    assert [message["role"] for message in messages(given)] == ["assistant", "user", "user", "assistant", "tool"]


def test_a_prefill_is_marked_only_where_the_backend_continues_turns() -> None:
    given = context(options={"prefill": "Once"})
    assert messages(given, target(supports_prefix_completion=True))[-1] == {
        "role": "assistant",
        "content": "Once",
        "prefix": True,
    }
    assert "prefix" not in messages(given)[-1]
    ends_with_the_model = context(*TALK, item("model", "So."))
    assert "prefix" not in messages(ends_with_the_model, target(supports_prefix_completion=True))[-1]


def test_a_prefill_that_ends_the_dialogue_already_is_marked() -> None:
    ended = context(*TALK, item("model", "Once"), options={"prefill": "Once"})
    assert messages(ended, target("deepseek", "deepseek-chat"))[-1]["prefix"] is True


def test_a_prefill_that_merged_with_the_turn_before_is_marked_too() -> None:
    given = context(*TALK, item("model", "So."), options={"prefill": "Once"})
    both = target(strict_role_alternation=True, supports_prefix_completion=True)
    assert messages(given, both)[-1] == {"role": "assistant", "content": "So.\nOnce", "prefix": True}
