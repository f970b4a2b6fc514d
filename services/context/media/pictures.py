"""Images as a model may see them, by Pillow: small enough, upright, in a format that the target takes, and readable.

This runs in a process of its own, on bytes of strangers. Nothing is decoded before its size in pixels is known.
"""

import io
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import pi_heif
from PIL import Image, ImageOps, ImageStat

from services.context.media.rules import Frame, ImageRules, KeyframeRules, Unshowable

MOST_PIXELS = 64_000_000
_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/heic": "HEIF",
    "image/heif": "HEIF",
}
_WHITE, _DARK = (255, 255, 255), (40, 40, 40)
_BRIGHT = 216.0
_LESS_QUALITY = 20
_MOST_KEPT = 64


def prepare() -> None:
    """Teach Pillow what it must refuse and the one format that it does not know. Once a process."""
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    cast(Any, pi_heif).register_heif_opener()
    Image.init()


def optimised(data: bytes, media_type: str, rules: ImageRules) -> tuple[bytes, str]:
    """The image's bytes and type for a target; raises Unshowable."""
    with _opened(data, media_type) as image:
        side = max(image.size)
        fits = len(data) <= rules.most_bytes and side <= rules.most_side and media_type in rules.accepts
        if fits and (len(data) <= rules.small_bytes or side <= rules.fit_side):
            # A smaller scale still reads every byte, so it finds what is cut off or damaged.
            image.draft(None, (image.width // 8, image.height // 8))
            _loaded(image)
            return data, media_type
        image.draft("RGB", (rules.fit_side, rules.fit_side))
        upright = _upright(_loaded(image), rules.fit_side)
    try:
        made = _jpeg(upright, rules.quality)
        if len(made) > rules.most_bytes:
            made = _jpeg(upright, rules.quality - _LESS_QUALITY)
    except (OSError, ValueError, MemoryError):
        if fits:
            return data, media_type
        raise Unshowable("encode") from None
    if len(made) > rules.most_bytes:
        raise Unshowable("limit")
    return made, "image/jpeg"


def is_animated(data: bytes, media_type: str) -> bool:
    """Whether there is a second frame; raises Unshowable."""
    with _opened(data, media_type) as image:
        try:
            image.seek(1)
        except EOFError:
            return False
        except Exception:
            raise Unshowable("decode") from None
        return True


def keyframes(data: bytes, rules: KeyframeRules, clock: Callable[[], float] = time.monotonic) -> list[Frame]:
    """The frames that stand for a GIF; raises Unshowable where not even one can be read.

    The frames are walked once, each over the one before; while they are many, every second one that was kept is let go.
    """
    until = clock() + rules.seconds
    kept: list[tuple[int, Image.Image]] = []
    stride, index = rules.every, 0
    with _opened(data, "image/gif") as image:
        while _reached(image, index, is_needed=index == 0):
            if index % stride == 0:
                kept.append((index, _narrow(image, rules.most_width)))
            if len(kept) > _MOST_KEPT:
                kept, stride = kept[::2], stride * 2
            index += 1
            if clock() > until:
                break
        if kept[-1][0] != index - 1 == image.tell():
            kept.append((index - 1, _narrow(image, rules.most_width)))
    return [
        Frame(at + 1, _jpeg(frame, rules.quality, is_progressive=True))
        for at, frame in _spread(kept, rules.most_frames)
    ]


def _reached(image: Image.Image, index: int, *, is_needed: bool) -> bool:
    """Whether there is such a frame and it can be read. A file that breaks off is shown as far as it goes."""
    try:
        image.seek(index)
        image.load()
    except EOFError:
        return False
    except Exception:
        if is_needed:
            raise Unshowable("decode") from None
        return False
    return True


def _spread(kept: Sequence[tuple[int, Image.Image]], most: int) -> list[tuple[int, Image.Image]]:
    """At most `most` of them, the first and the last among them, the others as evenly as they go."""
    if len(kept) <= most:
        return list(kept)
    return [kept[round(position * (len(kept) - 1) / (most - 1))] for position in range(most)]


def _opened(data: bytes, media_type: str) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=[_FORMATS[media_type]])
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise Unshowable("limit") from None
    except Exception:
        raise Unshowable("decode") from None
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise Unshowable("limit")
    return image


def _loaded(image: Image.Image) -> Image.Image:
    """The image, all of which has been read; raises Unshowable."""
    try:
        image.load()
    except Exception:
        raise Unshowable("decode") from None
    return image


def _upright(image: Image.Image, side: int) -> Image.Image:
    """As a camera's holder saw it, opaque, with `side` pixels at most."""
    profile = image.info.get("icc_profile") if image.mode == "RGB" else None
    turned = ImageOps.exif_transpose(_smaller(image, (side, side)))
    opaque = _opaque(turned)
    opaque.info = {"icc_profile": profile}
    return opaque


def _narrow(image: Image.Image, width: int) -> Image.Image:
    opaque = _opaque(_smaller(image.convert("RGBA"), (width, MOST_PIXELS // width)))
    opaque.info = {}
    return opaque


def _smaller(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A copy within the size; palettes and 16 bits become what can be resized well."""
    match image.mode:
        case "P" | "PA":
            image = image.convert("RGBA")
        case "1":
            image = image.convert("L")
        case mode if mode.startswith("I"):
            image = cast(Image.Image, cast(Any, image).point(_high_byte)).convert("L")
        case _:
            image = image.copy()
    image.thumbnail(size, Image.Resampling.LANCZOS)
    return image


def _high_byte(value: Any) -> Any:
    """Of 16 bits, as Pillow asks for it: it hands in no number but what records the formula."""
    return value * (1 / 256)


def _opaque(image: Image.Image) -> Image.Image:
    """In RGB; behind what is transparent lies white, or dark grey if what is there would vanish on white."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    image = image.convert("RGBA")
    alpha = image.getchannel("A")
    seen = ImageStat.Stat(image.convert("L"), mask=cast(Any, alpha).point([0] * 128 + [255] * 128))
    ground = Image.new("RGB", image.size, _DARK if seen.count[0] and seen.mean[0] > _BRIGHT else _WHITE)
    ground.paste(image, mask=alpha)
    return ground


def _jpeg(image: Image.Image, quality: int, *, is_progressive: bool = False) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, progressive=is_progressive, icc_profile=image.info.get("icc_profile"))
    return out.getvalue()
