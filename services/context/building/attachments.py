"""What a message shows beside its text: pictures and videos as parts, and a hint for every file that is neither."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.context import ImagePart, VideoPart
from services.context.building.custom_emojis import CustomEmoji
from services.context.building.messages import Attachment, Embed, HistoryMessage, Sticker
from services.context.building.names import block
from services.context.building.references import References
from services.context.hostile import quoted
from services.context.notices import MOST_NAME

FILE_TOOL = "read_file"
MOST_EMOJIS = 10
"""Different custom emojis of a message whose pictures are shown; the names of all stand in its text."""

_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/gif"})
_VIDEOS = frozenset(
    {
        "video/mp4", "video/mpeg", "video/quicktime", "video/x-msvideo", "video/x-flv", "video/webm", "video/x-ms-wmv",
        "video/3gpp",
    }
)  # fmt: skip
_OTHER_NAMES = {
    "image/jpg": "image/jpeg", "video/mov": "video/quicktime", "video/avi": "video/x-msvideo", "video/mpg": "video/mpeg",
    "video/wmv": "video/x-ms-wmv",
}  # fmt: skip
_BY_ENDING = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "heic": "image/heic",
    "heif": "image/heif", "gif": "image/gif", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
    "mov": "video/quicktime", "avi": "video/x-msvideo", "flv": "video/x-flv", "webm": "video/webm",
    "wmv": "video/x-ms-wmv", "3gp": "video/3gpp",
}  # fmt: skip
_YOUTUBE = re.compile(
    r"https?://(?:(?:www\.|m\.|music\.)?youtube\.com/(?:watch\?(?:[^\s#<>]{0,300}&)?v=|embed/|shorts/)|youtu\.be/)"
    r"([A-Za-z0-9_-]{11})(?![A-Za-z0-9_-])"
)
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}(?:; ?charset=[\w-]{1,20})?", re.ASCII)
"""https://www.rfc-editor.org/rfc/rfc9110#name-media-type, with no word of the sender's beside it."""
_TENOR = re.compile(r"https?://(?:www\.)?tenor\.com/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """`media` keep the message's order; `hints` are blocks about them."""

    media: tuple[ImagePart | VideoPart, ...] = ()
    hints: tuple[str, ...] = ()


_NOTHING = Shown()


def shown(
    message: HistoryMessage,
    emojis: Sequence[CustomEmoji],
    references: References,
    tools: frozenset[str],
    *,
    is_own: bool,
) -> Shown:
    """The media and hints of a message. `emojis` are those of its text.

    Of the model's own (`is_own`) emojis and link previews are not shown again.
    """
    if not (message.attachments or message.embeds or message.stickers or emojis or "youtu" in message.content):
        return _NOTHING
    media: list[ImagePart | VideoPart] = []
    files: list[Attachment] = []
    for attachment in message.attachments:
        part = _attached(attachment)
        if part is None:
            files.append(attachment)
        else:
            media.append(part)
    if not is_own:
        media += _animations(message.embeds)
        media += _youtube(message.content)
    media += _stickers(message.stickers)
    has_files = bool(media)
    if not is_own:
        media += _emojis(emojis)
    hints: list[str] = []
    if has_files and tools:
        hints.append(block(f"Tools find the media of this message as {references.media(message.id)}."))
    hints += [_file_hint(file, message.id, references, tools) for file in files]
    hints += [block(f"The sticker {quoted(sticker.name, 60) or 'without a name'}.") for sticker in message.stickers]
    return Shown(tuple(media), tuple(hints))


def is_animation(embed: Embed) -> bool:
    """Whether the card is only there for an animation of Tenor's, which is shown itself."""
    return embed.url is not None and bool(_TENOR.match(embed.url)) and _animation(embed) is not None


def _attached(attachment: Attachment) -> ImagePart | VideoPart | None:
    stated = (attachment.media_type or "").partition(";")[0].strip().lower()
    media_type = _OTHER_NAMES.get(stated, stated)
    if media_type not in _IMAGES | _VIDEOS:
        # Discord says nothing of some phones' pictures, so their ending counts.
        ending = attachment.name.rpartition(".")[2].lower()
        media_type = _BY_ENDING.get(ending, "") if stated in ("", "application/octet-stream") else ""
    if media_type in _IMAGES:
        return ImagePart(mime_type=media_type, uri=attachment.url, name=attachment.name)
    if media_type in _VIDEOS:
        return VideoPart(mime_type=media_type, uri=attachment.url, name=attachment.name)
    return None


def _animations(embeds: Sequence[Embed]) -> list[ImagePart | VideoPart]:
    return [part for embed in embeds if is_animation(embed) and (part := _animation(embed)) is not None]


def _animation(embed: Embed) -> ImagePart | VideoPart | None:
    name = embed.title or "animation"
    for url in (embed.image_url, embed.video_url):
        if url is not None and url.partition("?")[0].lower().endswith(".gif"):
            return ImagePart(mime_type="image/gif", uri=url, name=name)
    return None if embed.video_url is None else VideoPart(uri=embed.video_url, name=name)


def _youtube(content: str) -> list[VideoPart]:
    found = _YOUTUBE.search(content)
    if found is None:
        return []
    return [VideoPart(uri=f"https://www.youtube.com/watch?v={found[1]}", is_youtube_link=True)]


def _stickers(stickers: Iterable[Sticker]) -> list[ImagePart]:
    return [
        ImagePart(
            mime_type="image/gif" if sticker.is_animated else "image/png",
            uri=sticker.url,
            name=sticker.name,
            is_expression=True,
        )
        for sticker in stickers
        if sticker.url is not None
    ]


def _emojis(emojis: Sequence[CustomEmoji]) -> list[ImagePart]:
    found = list(dict.fromkeys(emojis))[:MOST_EMOJIS]
    return [
        ImagePart(mime_type="image/png", uri=emoji.url, name=f":{emoji.name}:", is_expression=True) for emoji in found
    ]


def _file_hint(file: Attachment, message_id: str, references: References, tools: frozenset[str]) -> str:
    stated = file.media_type or ""
    facts = [fact for fact in (stated if _MEDIA_TYPE.fullmatch(stated) else "", _size(file.size)) if fact]
    what = f" ({', '.join(facts)})" if facts else ""
    hint = f"The file {quoted(file.name, MOST_NAME) or 'without a name'}{what} is attached to this message."
    if FILE_TOOL in tools:
        hint += f" The tool {FILE_TOOL} reads it, as {references.media(message_id)}."
    return block(hint)


def _size(size: int | None) -> str:
    return "" if size is None else f"{size:,} bytes"
