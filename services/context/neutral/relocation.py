"""Media of the model's turns, moved into a user's turn that follows, because input history takes none from the model.

"Strict chat-completion compatibility" has the rule and the words. It holds for every provider and has no switch.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from schemas.context import ImagePart, OmittedPart, StructuredContextItem, TextPart, VideoPart
from services.context.neutral.partition import SYSTEM_TAGS
from services.context.notices import file_name

Medium = ImagePart | VideoPart | OmittedPart


def relocate_media(items: Iterable[StructuredContextItem]) -> tuple[StructuredContextItem, ...]:
    """The items, none of which has media in the model's role.

    All media of a model's item follow it in one user's item, behind a notice that names the item's sender. Both keep the
    item's tag and hidden data; an item of media alone becomes the user's item alone. Media that were left out already
    move too, so that their gap stays beside the others.
    """
    out: list[StructuredContextItem] = []
    for item in items:
        media = [part for part in item.parts if not isinstance(part, TextPart)] if item.role == "model" else []
        if not media:
            out.append(item)
            continue
        if texts := tuple(part for part in item.parts if isinstance(part, TextPart)):
            out.append(item.model_copy(update={"parts": texts}))
        shown = {
            "role": "user",
            "parts": (TextPart(text=media_notice(media, item.sender)), *media),
            # What the model sent is dialogue, and a user's item with such a tag would be read as system text.
            "tag": None if item.tag in SYSTEM_TAGS else item.tag,
        }
        out.append(item.model_copy(update=shown))
    return tuple(out)


def media_notice(media: Sequence[Medium], sender: str | None) -> str:
    """The line before relocated media: how many of what they are, and who sent them if that is known."""
    images = sum(_is_image(part) for part in media)
    kinds = [_counted("image", images), _counted("video", len(media) - images)]
    what = " and ".join(kind for kind in kinds if kind)
    verb = "was" if len(media) == 1 else "were"
    # Not in quotes, since the sentence is the strict chat page's to the letter.
    name = file_name(sender)
    return (
        f"[System: The following {what} {verb} sent by {name}.]"
        if name
        else f"[System: The following {what} {verb} sent]"
    )


def _is_image(part: Medium) -> bool:
    match part:
        case ImagePart():
            return True
        case VideoPart():
            return False
        case OmittedPart():
            return part.medium == "image"
        case _:
            assert_never(part)


def _counted(noun: str, count: int) -> str:
    return "" if count == 0 else noun if count == 1 else f"{noun}s"
