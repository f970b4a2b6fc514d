"""What of an item's parts an OpenAI-shaped request can show: texts, data URLs, and a notice for the rest.

A part that cannot be sent becomes a notice, never a silent gap.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from schemas.context import ContextPart, ImagePart, OmittedPart, StructuredContextItem, TextPart, VideoPart
from services.context.notices import notice, omission
from services.context.rendered import BlobText, RenderWarning, WarningCode

_GIF = "image/gif"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a data URL."""

    url: str | BlobText


@dataclass(frozen=True, slots=True)
class Clip:
    """A video as a data URL, or a link that the provider opens."""

    url: str | BlobText


Piece = str | Picture | Clip


@dataclass(frozen=True, slots=True)
class Eyes:
    """What the target sees of media; `youtube`: it opens links to YouTube."""

    images: bool
    videos: bool = False
    youtube: bool = False


@dataclass(slots=True)
class Notes:
    """What there is to say of a request while it is made.

    `places` are those of the context's media, by the identity of the part. `skipped` are Discord messages whose images are
    not shown.
    """

    places: Mapping[int, str] = field(default_factory=dict[int, str])
    warnings: list[RenderWarning] = field(default_factory=list[RenderWarning])
    skipped: dict[str, None] = field(default_factory=dict[str, None])

    def warn(self, code: WarningCode, place: str, message: str) -> None:
        """Note a warning."""
        self.warnings.append(RenderWarning(code, place, message))


def media_places(items: Iterable[StructuredContextItem]) -> dict[int, str]:
    """Where the items have their media, by the identity of the part."""
    return {
        id(part): f"items[{index}].parts[{position}]"
        for index, item in enumerate(items)
        for position, part in enumerate(item.parts)
        if not isinstance(part, TextPart)
    }


def item_pieces(item: StructuredContextItem, eyes: Eyes, notes: Notes) -> list[Piece]:
    """The pieces of an item, in order, without texts that say nothing."""
    pieces = part_pieces(item.parts, "parts", eyes, notes, item.message_id)
    return [piece for piece in pieces if not isinstance(piece, str) or piece.strip()]


def part_pieces(
    parts: Sequence[ContextPart], place: str, eyes: Eyes, notes: Notes, message_id: str | None = None
) -> list[Piece]:
    """One piece a part. `place` is theirs where `notes` knows none, `message_id` the Discord message that they are from."""
    out: list[Piece] = []
    for index, part in enumerate(parts):
        if isinstance(part, TextPart):
            out.append(part.text)
            continue
        where = notes.places.get(id(part)) or f"{place}[{index}]"
        match part:
            case ImagePart():
                out.append(_image(part, where, eyes, notes))
            case VideoPart():
                out.append(_video(part, where, eyes, notes))
            case OmittedPart():
                out.append(omission(part))
                notes.warn("image_skipped", where, f"{part.medium} {part.index} failed at: {part.stage}")
            case _:
                assert_never(part)
        if isinstance(part, ImagePart | OmittedPart) and isinstance(out[-1], str) and message_id is not None:
            notes.skipped[message_id] = None
    return out


def data_url(part: ImagePart | VideoPart) -> str | BlobText | None:
    """The bytes of a part as a data URL; None where it has none."""
    if part.blob is not None:
        return BlobText(part.blob, f"data:{part.mime_type};base64,")
    if part.inline_data is not None:
        return f"data:{part.inline_data.mime_type};base64,{part.inline_data.data}"
    return None


def _image(part: ImagePart, place: str, eyes: Eyes, notes: Notes) -> Piece:
    url = data_url(part)
    mime_type = part.mime_type if part.inline_data is None else part.inline_data.mime_type
    if not eyes.images:
        notes.warn("image_unsupported", place, "the model takes no images")
        return notice("image", "this model takes no images", name=part.name)
    if mime_type == _GIF:
        notes.warn("image_unsupported", place, "animations are not taken")
        return notice("image", "animations cannot be shown", name=part.name)
    if url is None:
        notes.warn("image_skipped", place, "its bytes are missing")
        return notice("image", "it could not be downloaded", name=part.name)
    return Picture(url)


def _video(part: VideoPart, place: str, eyes: Eyes, notes: Notes) -> Piece:
    if not (eyes.youtube if part.is_youtube_link else eyes.videos):
        notes.warn("video_unsupported", place, "the model takes no such videos")
        return notice("video", "this model takes no videos", name=part.name)
    url = data_url(part)
    if url is None and part.uri is not None and part.enhanced_context:
        url = part.uri
    if url is None:
        notes.warn("video_unsupported", place, "its bytes are missing, and its link is not passed on")
        return notice("video", "only its link is known", name=part.name)
    return Clip(url)
