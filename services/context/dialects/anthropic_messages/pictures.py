"""The pictures of one request: base64 blocks behind labels, and notices where one cannot be shown.

Limits: https://platform.claude.com/docs/en/build-with-claude/vision (general limits). A label is the picture's place in
the request, counted also over those that are missing, so that it stays when one of them fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from schemas.context import ImagePart, MediaStage, OmittedPart
from services.context.dialects.shown import Notes
from services.context.failures import diagnosis
from services.context.notices import label, notice, omission
from services.context.rendered import BlobText, NativeValue

MOST_BASE64 = 5 * 1024 * 1024
"""Characters of one picture's base64."""

MOST_BASE64_OF_ALL = 24 * 1024 * 1024
"""Characters of all pictures: a request may have 32 MB, and text and tools need room."""

MOST_IMAGES = 100
MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

Picture = ImagePart | OmittedPart
Block = dict[str, NativeValue]


class Pictures:
    """Takes a request's pictures in their order, which must be that of `all_of_them`.

    `shown` counts those that the model sees, `failed` has those that it was meant to see.
    """

    def __init__(self, all_of_them: Sequence[Picture], notes: Notes, *, sees_images: bool) -> None:
        self.shown = 0
        self.failed: list[OmittedPart] = []
        self._notes = notes
        self._sees_images = sees_images
        self._taken = 0
        self._without_room = _without_room(all_of_them)

    def blocks(self, picture: Picture, place: str, message_id: str | None = None) -> list[Block]:
        """What stands for the next picture. `place` is its own where the notes know none."""
        index = self._taken
        self._taken += 1
        place = self._notes.places.get(id(picture), place)
        if not self._sees_images:
            why = "this model takes no images"
            self._notes.warn("image_unsupported", place, f"image {index}: {why}")
            return [text_block(notice("image", why, name=picture.name, number=index + 1))]
        match picture:
            case ImagePart():
                usable = "limit" if index in self._without_room else _usable(picture)
                if isinstance(usable, _Source):
                    self.shown += 1
                    source: NativeValue = {"type": "base64", "media_type": usable.media_type, "data": usable.data}
                    return [text_block(label(index + 1, picture.name)), {"type": "image", "source": source}]
                omitted = OmittedPart(medium="image", index=index, stage=usable, reason=usable, name=picture.name)
            case OmittedPart():
                omitted = picture.model_copy(update={"index": index})
            case _:
                assert_never(picture)
        self.failed.append(omitted)
        self._notes.warn("image_skipped", place, diagnosis(omitted))
        if message_id is not None:
            self._notes.skipped[message_id] = None
        return [text_block(omission(omitted, index + 1))]


def text_block(text: str) -> Block:
    """A block of text."""
    return {"type": "text", "text": text}


@dataclass(frozen=True, slots=True)
class _Source:
    """A picture's bytes; `size` is that of their base64."""

    media_type: str
    data: NativeValue
    size: int


def _source(image: ImagePart) -> _Source | None:
    if image.blob is not None:
        return _Source(image.mime_type, BlobText(image.blob), (image.blob.size + 2) // 3 * 4)
    if image.inline_data is not None:
        return _Source(image.inline_data.mime_type, image.inline_data.data, len(image.inline_data.data))
    return None


def _usable(image: ImagePart) -> _Source | MediaStage:
    """The picture's bytes, or at which stage it fails."""
    source = _source(image)
    if source is None:
        return "download"
    if source.media_type not in MEDIA_TYPES:
        return "validate"
    return "limit" if source.size > MOST_BASE64 else source


def _without_room(pictures: Sequence[Picture]) -> frozenset[int]:
    """Which of the good pictures are too many: the oldest, since a reply is about the newest."""
    room, places = MOST_BASE64_OF_ALL, MOST_IMAGES
    without: set[int] = set()
    for index in reversed(range(len(pictures))):
        picture = pictures[index]
        source = _usable(picture) if isinstance(picture, ImagePart) else None
        if not isinstance(source, _Source):
            continue
        if places and source.size <= room:
            room, places = room - source.size, places - 1
        else:
            without.add(index)
            places = 0
    return frozenset(without)
