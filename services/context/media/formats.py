"""What a file is, by its first bytes; what a user or a server calls it is only a hope."""

from typing import Literal, get_args

ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif"]
VideoType = Literal[
    "video/mp4",
    "video/mpeg",
    "video/mov",
    "video/avi",
    "video/x-flv",
    "video/mpg",
    "video/webm",
    "video/wmv",
    "video/3gpp",
]
"""As Gemini names them: https://ai.google.dev/gemini-api/docs/video-understanding"""

IMAGE_TYPES: frozenset[str] = frozenset(get_args(ImageType))
VIDEO_TYPES: frozenset[str] = frozenset(get_args(VideoType))

_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
_HEIF_BRANDS = frozenset({b"mif1", b"msf1"})
_OTHER_IMAGE_BRANDS = frozenset({b"avif", b"avis"})
_ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_MOST_HEADER = 4_096


def image_type(data: bytes) -> ImageType | None:
    """The type of an image that this system knows; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    brands = _brands(data)
    if brands & _HEIC_BRANDS:
        return "image/heic"
    return "image/heif" if brands & _HEIF_BRANDS and not brands & _OTHER_IMAGE_BRANDS else None


def video_type(data: bytes) -> VideoType | None:
    """The type of a video; None for anything else."""
    brands = _brands(data)
    if brands and not brands & (_HEIC_BRANDS | _HEIF_BRANDS | _OTHER_IMAGE_BRANDS):
        major = data[8:12]
        return "video/mov" if major == b"qt  " else "video/3gpp" if major.startswith((b"3gp", b"3g2")) else "video/mp4"
    if data[4:8] in (b"moov", b"mdat", b"wide", b"free"):
        return "video/mov"
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in data[:_MOST_HEADER] else None
    if data.startswith(b"RIFF") and data[8:12] == b"AVI ":
        return "video/avi"
    if data.startswith(b"FLV\x01"):
        return "video/x-flv"
    if data.startswith((b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3")):
        return "video/mpeg"
    return "video/wmv" if data.startswith(_ASF) else None


def _brands(data: bytes) -> set[bytes]:
    """The brands of an ISO media file (ISO/IEC 14496-12, 4.3), the major one and those it is compatible with."""
    if data[4:8] != b"ftyp":
        return set()
    end = min(int.from_bytes(data[:4], "big"), len(data), _MOST_HEADER)
    return {data[8:12], *(data[at : at + 4] for at in range(16, end - 3, 4))}
