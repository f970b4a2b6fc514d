"""Which media are shown: of the newest messages, each once, and few messages with images."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.context import ContextPart, ConversationUser, ImagePart, StructuredContextItem, TextPart, VideoPart
from services.context.media.window import MediaWindow, within
from tests.context.media.conftest import said

WIDE = MediaWindow(messages=1_000, image_messages=1_000)


def image(name: str, **fields: Any) -> ImagePart:
    return ImagePart(mime_type="image/png", uri=f"https://cdn.example/{name}", name=name, **fields)


def video(name: str, **fields: Any) -> VideoPart:
    return VideoPart(uri=f"https://cdn.example/{name}", name=name, **fields)


def shown(*items: StructuredContextItem, window: MediaWindow | None = None, can_widen: bool = False) -> list[list[str]]:
    """Of each item the parts: a name, or the text."""
    return [
        [part.text if isinstance(part, TextPart) else str(part.name) for part in item.parts]
        for item in within(items, window or MediaWindow(), can_widen=can_widen)
    ]


def test_media_of_the_last_ten_messages_are_shown() -> None:
    items = [said(video("old"), number=1), said(video("first"), number=2), *(said("text", number=n) for n in range(9))]
    assert shown(*items)[:2] == [["[System: 1 video of this message is too old to be shown.]"], ["first"]]


def test_three_messages_with_images_are_shown_however_many_each_has() -> None:
    items = [said(image(f"{n}a"), image(f"{n}b"), "text", number=n) for n in range(5)]
    assert shown(*items) == [
        ["[System: 2 images of this message are too old to be shown.]", "text"],
        ["[System: 2 images of this message are too old to be shown.]", "text"],
        ["2a", "2b", "text"],
        ["3a", "3b", "text"],
        ["4a", "4b", "text"],
    ]


def test_emojis_and_stickers_that_are_too_old_or_shown_later_leave_no_hint() -> None:
    emoji = image("emoji", is_expression=True)
    old = [said(emoji, ":emoji:", number=1), said(emoji, role="model", number=2)]
    items = [*old, *(said("text", number=n) for n in range(9)), said(emoji, ":emoji:", number=3)]
    assert shown(*items) == [[":emoji:"], *([["text"]] * 9), ["emoji", ":emoji:"]]


def test_emojis_and_stickers_do_not_count_and_videos_are_no_images() -> None:
    items = [
        said(image("picture"), video("clip"), image("sticker", is_expression=True)),
        *(said(image(f"emoji{n}", is_expression=True)) for n in range(4)),
        *(said(image(f"new{n}")) for n in range(3)),
    ]
    first, *others = shown(*items)
    assert first == ["[System: 1 image of this message is too old to be shown.]", "clip", "sticker"]
    assert others == [["emoji0"], ["emoji1"], ["emoji2"], ["emoji3"], ["new0"], ["new1"], ["new2"]]


def test_an_address_is_shown_where_it_comes_last() -> None:
    items = [said(image("a"), "one"), said(image("b"), image("a"), image("a"))]
    assert shown(*items) == [
        ["[System: 1 image of this message is shown further below.]", "one"],
        ["b", "[System: 1 image of this message is shown further below.]", "a"],
    ]


def test_a_message_whose_images_are_all_shown_later_takes_no_place() -> None:
    items = [said(image("x")), said(image("a")), said(image("a")), said(image("b")), said(image("a"))]
    below = "[System: 1 image of this message is shown further below.]"
    assert shown(*items) == [["x"], [below], [below], ["b"], ["a"]]


def test_the_hint_names_the_tool_only_where_it_is_on_offer() -> None:
    items = [said(image("a"), video("v")), *(said("text") for _ in range(10))]
    hint = "[System: 1 image and 1 video of this message are too old to be shown.{}]"
    assert shown(*items)[0] == [hint.format("")]
    assert shown(*items, can_widen=True)[0] == [hint.format(" The tool increase_media_context shows more.")]


def test_the_models_own_media_leave_their_hint_in_a_users_item_behind() -> None:
    users = (ConversationUser(target_id="7", display_label="Ada"),)
    own = said("look", image("a"), role="model", sender="Odradek", conversation_users=users)
    alone = said(image("b"), role="model", sender="Odradek")
    window = MediaWindow(0, 0)
    assert [(item.role, item.sender) for item in within([own, alone], window, can_widen=False)] == [
        ("model", "Odradek"),
        ("user", "Odradek"),
        ("user", "Odradek"),
    ]
    assert all(item.conversation_users == users for item in within([own], window, can_widen=False))


def test_what_a_tool_asked_for_and_what_is_no_history_is_always_shown() -> None:
    items = [
        said(image("profile", is_profile_picture=True), video("youtube", enhanced_context=True)),
        said(image("sample"), tag="dialogue_sample"),
    ]
    assert shown(*items, window=MediaWindow(0, 0)) == [["profile", "youtube"], ["sample"]]


parts = st.one_of(
    st.text(max_size=3).map(lambda text: TextPart(text=text)),
    st.builds(lambda name, expression: image(name, is_expression=expression), st.sampled_from("abcdef"), st.booleans()),
    st.sampled_from("uvw").map(video),
)
histories = st.lists(
    st.builds(
        lambda content, role: said(*content, role=role),
        st.lists(parts, min_size=1, max_size=4),
        st.sampled_from(["user", "model"]),
    ),
    max_size=20,
)


@given(histories, st.integers(0, 12), st.integers(0, 4))
def test_texts_stay_in_order_and_every_medium_but_an_emoji_is_shown_or_hinted_at(
    items: list[StructuredContextItem], messages: int, image_messages: int
) -> None:
    def texts(some: Any) -> list[ContextPart]:
        said = [part for item in some for part in item.parts if isinstance(part, TextPart)]
        return [part for part in said if not part.text.startswith("[System:")]

    def media(some: Any) -> list[ContextPart]:
        return [part for item in some for part in item.parts if not isinstance(part, TextPart)]

    def named(some: Any) -> list[ContextPart]:
        return [part for part in media(some) if not (isinstance(part, ImagePart) and part.is_expression)]

    made = within(items, MediaWindow(messages, image_messages), can_widen=False)
    assert texts(made) == texts(items)
    hinted = sum(
        int(word)
        for item in made
        for part in item.parts
        if isinstance(part, TextPart) and part.text.startswith("[System:")
        for word in part.text.split()
        if word.isdigit()
    )
    assert len(named(made)) + hinted == len(named(items))
    addresses = [part.uri for part in media(made) if isinstance(part, ImagePart)]
    assert len(addresses) == len(set(addresses))


@given(histories)
def test_a_wide_window_hides_nothing_but_copies(items: list[StructuredContextItem]) -> None:
    made = within(items, WIDE, can_widen=False)
    assert "too old" not in str(made)
    assert within(made, WIDE, can_widen=False) == made
