"""Pictures and videos as parts of a Google content, and notices where one cannot be shown.

https://ai.google.dev/gemini-api/docs/image-understanding, https://ai.google.dev/gemini-api/docs/video-understanding
"""

from typing import assert_never
from urllib.parse import urlsplit

from schemas.context import ImagePart, Medium, OmittedPart, VideoPart
from services.catalog.target import Target
from services.context.dialects.shown import Notes
from services.context.failures import diagnosis
from services.context.notices import notice, omission
from services.context.rendered import BlobText, NativeValue, WarningCode

MOST_VIDEO_BYTES = 20 * 1024 * 1024
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})

_YOUTUBE_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "youtu.be"})
_UNSUPPORTED: dict[Medium, WarningCode] = {"image": "image_unsupported", "video": "video_unsupported"}

Medial = ImagePart | VideoPart | OmittedPart
Part = dict[str, NativeValue]


class Media:
    """Makes parts of a request's media. What cannot be shown is noted and told of."""

    def __init__(self, target: Target, notes: Notes) -> None:
        self._facts = target.model
        self._notes = notes

    def part(self, medium: Medial, place: str, message_id: str | None = None) -> Part:
        """The part that stands for a medium. `place` is its own where the notes know none."""
        place = self._notes.places.get(id(medium), place)
        match medium:
            case ImagePart():
                return self._image(medium, place, message_id)
            case VideoPart():
                return self._video(medium, place)
            case OmittedPart():
                self._notes.warn(
                    "image_skipped" if medium.medium == "image" else "video_unsupported", place, diagnosis(medium)
                )
                if medium.medium == "image":
                    self._skip(message_id)
                return {"text": omission(medium)}
            case _:
                assert_never(medium)

    def _image(self, image: ImagePart, place: str, message_id: str | None) -> Part:
        mime_type = _mime_type(image)
        if not self._facts.sees_images:
            return self._missing("image", "this model takes no images", image.name, place)
        data = _data(image)
        if data is not None and mime_type in IMAGE_TYPES:
            return {"inlineData": {"mimeType": mime_type, "data": data}}
        self._skip(message_id)
        if mime_type == "image/gif":
            return self._missing("image", "this model takes no moving images", image.name, place)
        return self._missing("image", "it could not be read", image.name, place)

    def _video(self, video: VideoPart, place: str) -> Part:
        if video.is_youtube_link:
            if not self._facts.sees_youtube:
                return self._missing("video", "this model takes no links to videos", video.name, place)
            # An ordinary link stays text: the model watches such a video only when a tool asked for it.
            if not (video.enhanced_context and _is_youtube(video.uri)):
                return self._missing("video", "only its link is known", video.name, place)
            return {"fileData": {"mimeType": video.mime_type, "fileUri": video.uri}}
        if not self._facts.sees_videos:
            return self._missing("video", "this model takes no videos", video.name, place)
        data = _data(video)
        if data is None:
            return self._missing("video", "it could not be downloaded", video.name, place)
        if _size(video) > MOST_VIDEO_BYTES:
            return self._missing("video", "it is over a size limit", video.name, place)
        return {"inlineData": {"mimeType": _mime_type(video), "data": data}}

    def _missing(self, medium: Medium, why: str, name: str | None, place: str) -> Part:
        self._notes.warn(_UNSUPPORTED[medium], place, why)
        return {"text": notice(medium, why, name=name)}

    def _skip(self, message_id: str | None) -> None:
        if message_id is not None:
            self._notes.skipped[message_id] = None


def _data(medium: ImagePart | VideoPart) -> NativeValue:
    if medium.blob is not None:
        return BlobText(medium.blob)
    return None if medium.inline_data is None else medium.inline_data.data


def _size(video: VideoPart) -> int:
    if video.blob is not None:
        return video.blob.size
    return 0 if video.inline_data is None else len(video.inline_data.data) // 4 * 3


def _mime_type(medium: ImagePart | VideoPart) -> str:
    if medium.blob is None and medium.inline_data is not None:
        return medium.inline_data.mime_type
    return medium.mime_type


def _is_youtube(uri: str | None) -> bool:
    try:
        address = urlsplit(uri or "")
    except ValueError:
        return False
    return address.scheme == "https" and address.netloc.lower() in _YOUTUBE_HOSTS
