"""What the tests of neutral contexts share: items of every shape, and how their parts and hidden data are read."""

from collections.abc import Iterable
from typing import get_args

from hypothesis import strategies as st

from schemas.context import (
    ContextTag,
    ConversationUser,
    ImagePart,
    OmittedPart,
    StructuredContextItem,
    TextPart,
    VideoPart,
)

texts = st.sampled_from(["", " ", "\n", "[System: hello]"]) | st.text(max_size=8)
names = st.none() | st.sampled_from(["", " ", "Ada", "a\nb", "[x]"]) | st.text(max_size=8)
parts = st.one_of(
    st.builds(TextPart, text=texts),
    st.builds(ImagePart, mime_type=st.just("image/png"), name=names),
    st.builds(VideoPart, name=names),
    st.builds(
        OmittedPart,
        medium=st.sampled_from(["image", "video"]),
        index=st.integers(0, 9),
        stage=st.just("download"),
        reason=st.just("gone"),
    ),
)
users = st.builds(ConversationUser, target_id=st.text(max_size=3), display_label=st.text(max_size=3))
items = st.lists(
    st.builds(
        StructuredContextItem,
        role=st.sampled_from(["system", "user", "model"]),
        parts=st.lists(parts, max_size=5).map(tuple),
        tag=st.none() | st.sampled_from(get_args(ContextTag)),
        sender=names,
        message_id=st.none() | st.text(max_size=4),
        conversation_users=st.lists(users, max_size=2).map(tuple),
        participant_target_index=st.none() | st.integers(0, 1),
    ),
    max_size=8,
)


def said(given: Iterable[StructuredContextItem]) -> list[str]:
    """All texts, in order."""
    return [part.text for item in given for part in item.parts if isinstance(part, TextPart)]


def shown(given: Iterable[StructuredContextItem]) -> list[ImagePart | VideoPart | OmittedPart]:
    """All media, in order."""
    return [part for item in given for part in item.parts if not isinstance(part, TextPart)]


def hidden(item: StructuredContextItem) -> tuple[object, ...]:
    """The hidden data of an item, and whence it came."""
    return item.sender, item.message_id, item.conversation_users, item.participant_target_index
