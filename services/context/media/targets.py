"""Which media a target can take, and in what form. Visibility is decided here anew for each attempt's target."""

from dataclasses import dataclass
from typing import Literal

from schemas.chunks import Dialect
from services.catalog.target import Target
from services.context.media.rules import ImageRules, KeyframeRules

Gifs = Literal["image", "keyframes", "notice"]

_MIB = 1024 * 1024
_SMALL_BYTES, _FIT_SIDE, _QUALITY = 2 * _MIB, 2_048, 85
KEYFRAMES = KeyframeRules(every=10, most_frames=10, most_width=800, quality=80, seconds=30.0)

_MOST_BYTES = 15 * _MIB
_MOST_SIDE = 16_000
_CLAUDE_BYTES = 5 * _MIB // 4 * 3
_CLAUDE_SIDE = 8_000

_ACCEPTED: dict[Dialect, tuple[str, ...]] = {
    "openai-chat": ("image/png", "image/jpeg", "image/webp"),
    "openai-responses": ("image/png", "image/jpeg", "image/webp"),
    "anthropic": ("image/png", "image/jpeg", "image/webp", "image/gif"),
    "google": ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
    "novelai": (),
}


@dataclass(frozen=True, slots=True)
class Sight:
    """What a target sees. `images` None: none at all. `gifs`: animations as they are, as keyframes, or told of only."""

    images: ImageRules | None
    gifs: Gifs
    videos: bool


def sight(target: Target, *, production: bool) -> Sight:
    """What the target sees.

    Claude's bounds: https://platform.claude.com/docs/en/build-with-claude/vision, 5 MB of base64 and 8,000 pixels an image.
    GIFs become keyframes in development and a notice in production, to spare memory; Claude takes them as they are.
    """
    accepts = _ACCEPTED[target.dialect] if target.model.sees_images else ()
    is_claude = target.dialect == "anthropic"
    images = ImageRules(
        accepts=accepts,
        small_bytes=_SMALL_BYTES,
        fit_side=_FIT_SIDE,
        quality=_QUALITY,
        most_bytes=_CLAUDE_BYTES if is_claude else _MOST_BYTES,
        most_side=_CLAUDE_SIDE if is_claude else _MOST_SIDE,
    )
    takes_videos = target.dialect == "google" or target.provider == "openrouter"
    return Sight(
        images=images if accepts else None,
        gifs="image" if is_claude else "notice" if production else "keyframes",
        videos=target.model.sees_videos and takes_videos,
    )
