"""Images as a model sees them, and files that only look like images."""

import io
import struct
import zipfile
import zlib
from dataclasses import replace
from itertools import pairwise

import pytest
from PIL import Image, ImageCms

from services.context.media.pictures import MOST_PIXELS, is_animated, keyframes, optimised
from services.context.media.rules import ImageRules, KeyframeRules, Unshowable
from services.context.media.targets import KEYFRAMES
from tests.context.media.conftest import HEIC, encoded, gif, noise, read

RULES = ImageRules(("image/png", "image/jpeg", "image/webp"), 2 * 1024 * 1024, 2_048, 85, 15_000_000, 16_000)
SMALL = 2_000
"""Rules with this bound need no large images for what is large."""


def rules(**changes: object) -> ImageRules:
    return replace(RULES, **changes)  # type: ignore[arg-type]


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, rows: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", rows) + png_chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_up_to_2_mib_it_stays_as_it_is_however_wide(kind: str) -> None:
    data = encoded(Image.new("RGB", (5_000, 10), "red"), kind)
    assert optimised(data, f"image/{kind.lower()}", RULES) == (data, f"image/{kind.lower()}")


def test_over_2_mib_it_stays_while_it_is_not_larger_than_2048() -> None:
    data = encoded(noise(1_024, 800), "PNG")
    assert len(data) > RULES.small_bytes
    assert optimised(data, "image/png", RULES) == (data, "image/png")


def test_over_both_it_becomes_a_jpeg_that_fits_2048() -> None:
    data = encoded(noise(2_100, 1_050), "PNG")
    made, media_type = optimised(data, "image/png", RULES)
    assert (media_type, read(made).size, read(made).format) == ("image/jpeg", (2_048, 1_024), "JPEG")
    assert len(made) < len(data)


def test_a_photograph_of_twelve_megapixels_becomes_small() -> None:
    data = encoded(noise(4_000, 3_000), "JPEG", quality=95)
    made, _ = optimised(data, "image/jpeg", RULES)
    assert read(made).size == (2_048, 1_536)


def test_what_the_target_does_not_take_is_converted() -> None:
    made, media_type = optimised(HEIC, "image/heic", RULES)
    image = read(made)
    assert (media_type, image.size) == ("image/jpeg", (64, 48))
    red, blue = image.getpixel((60, 40)), image.getpixel((5, 5))
    assert isinstance(red, tuple)
    assert isinstance(blue, tuple)
    assert red[0] > 150 > red[2]
    assert blue[2] > 150 > blue[0]
    assert optimised(HEIC, "image/heic", rules(accepts=("image/heic",))) == (HEIC, "image/heic")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_it_is_upright_as_its_camera_says(orientation: int) -> None:
    upright = Image.new("RGB", (80, 40), "red")
    upright.paste((0, 0, 255), (0, 0, 40, 20))
    turns = {2: [0], 3: [3], 4: [1], 5: [5], 6: [2], 7: [6], 8: [4]}
    turned = upright
    for turn in turns.get(orientation, []):
        turned = turned.transpose(Image.Transpose(turn))
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(turned, "JPEG", exif=exif, quality=95)
    made, _ = optimised(data, "image/jpeg", rules(small_bytes=0, fit_side=64))
    image = read(made)
    assert image.size == (64, 32)
    corner, opposite = image.getpixel((8, 4)), image.getpixel((56, 28))
    assert isinstance(corner, tuple)
    assert isinstance(opposite, tuple)
    assert corner[2] > 150 > corner[0]
    assert opposite[0] > 150 > opposite[2]
    assert image.getexif().get(0x0112) is None


@pytest.mark.parametrize(
    ("colour", "ground"), [((0, 0, 0, 255), 255), ((200, 0, 0, 255), 255), ((255, 255, 255, 255), 40)]
)
def test_behind_what_is_transparent_lies_what_it_stands_out_from(
    colour: tuple[int, int, int, int], ground: int
) -> None:
    image = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    image.paste(colour, (10, 10, 30, 30))
    for mode in ("RGBA", "P"):
        data = encoded(image.quantize() if mode == "P" else image, "PNG")
        made = read(optimised(data, "image/png", rules(accepts=("image/jpeg",), quality=95))[0])
        corner, middle = made.getpixel((1, 1)), made.getpixel((20, 20))
        assert isinstance(corner, tuple)
        assert isinstance(middle, tuple)
        assert all(abs(channel - ground) < 8 for channel in corner)
        assert all(abs(channel - wanted) < 12 for channel, wanted in zip(middle, colour, strict=False))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_pixels_becomes_a_jpeg(mode: str) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    image = Image.new(mode, (100, 50), 40_000 if mode.startswith("I") else 0)
    made, _ = optimised(encoded(image, kind), f"image/{kind.lower()}", rules(small_bytes=0, fit_side=50))
    assert (read(made).mode, read(made).size) == ("RGB", (50, 25))
    if mode == "I;16":
        pixel = read(made).getpixel((10, 10))
        assert isinstance(pixel, tuple)
        assert abs(pixel[0] - 156) < 4


def test_the_colours_keep_their_profile() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = encoded(Image.new("RGB", (100, 50)), "PNG", icc_profile=profile)
    made, _ = optimised(data, "image/png", rules(small_bytes=0, fit_side=50))
    assert read(made).info["icc_profile"] == profile


def test_what_the_target_refuses_for_its_size_is_made_smaller_or_left_out() -> None:
    data = encoded(noise(512, 512), "PNG")
    made, media_type = optimised(data, "image/png", rules(most_bytes=len(data) - 1))
    assert media_type == "image/jpeg"
    assert len(made) < len(data)
    with pytest.raises(Unshowable) as failed:
        optimised(data, "image/png", rules(most_bytes=1_000))
    assert failed.value.stage == "limit"
    made, _ = optimised(encoded(Image.new("RGB", (900, 9)), "PNG"), "image/png", rules(most_side=800, fit_side=512))
    assert read(made).size == (512, 5)


def _jpeg() -> bytes:
    return encoded(noise(300, 200), "JPEG")


def _png() -> bytes:
    return encoded(noise(300, 200), "PNG")


def _zip(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", data)
    return out.getvalue()


HOSTILE = {
    "png of 2,500 megapixels": (png_of(50_000, 50_000, zlib.compress(bytes(50_000))), "image/png", "limit"),
    "png of the largest size": (png_of(2**31 - 1, 2**31 - 1, b""), "image/png", "limit"),
    "png just over the bound": (png_of(MOST_PIXELS // 1_000 + 1, 1_000, zlib.compress(b"")), "image/png", "limit"),
    "png with a broken stream": (png_of(300, 200, b"x" * 500), "image/png", "decode"),
    "png of no size": (png_of(0, 0, b""), "image/png", "decode"),
    "png cut off": (_png()[:-5_000], "image/png", "decode"),
    "png of a header alone": (_png()[:33], "image/png", "decode"),
    "png with a wrong checksum": (_png()[:29] + b"\0\0\0\0" + _png()[33:], "image/png", "decode"),
    "png with a bomb of a profile": (
        b"\x89PNG\r\n\x1a\n"
        + _png()[8:33]
        + png_chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(200_000_000)))
        + _png()[33:],
        "image/png",
        "decode",
    ),
    "jpeg cut off": (_jpeg()[:-3_000], "image/jpeg", "decode"),
    "jpeg of a header alone": (_jpeg()[:20], "image/jpeg", "decode"),
    "jpeg of 4,000 megapixels": (
        _jpeg().replace(b"\x00\xc8\x01\x2c", b"\xff\xff\xff\xff", 1),
        "image/jpeg",
        "limit",
    ),
    "gif of a huge screen": (b"GIF89a\xff\xff\xff\xff" + gif(1)[10:], "image/gif", "limit"),
    "gif cut off": (gif(1)[:20], "image/gif", "decode"),
    "webp cut off": (encoded(noise(300, 200), "WEBP")[:-4_000], "image/webp", "decode"),
    "heic cut off": (HEIC[:-100], "image/heic", "decode"),
    "heic of a header alone": (HEIC[:64], "image/heic", "decode"),
    "garbage behind a magic number": (b"\xff\xd8\xff" + bytes(range(256)) * 100, "image/jpeg", "decode"),
    "html that says gif": (b"GIF89a<script>alert(1)</script>", "image/gif", "decode"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>", "image/png", "decode"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "image/png", "decode"),
    "a png that is called a jpeg": (_png(), "image/jpeg", "decode"),
    "nothing": (b"", "image/png", "decode"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_not_shown_whether_it_would_pass_or_be_made_anew(name: str) -> None:
    data, media_type, stage = HOSTILE[name]
    for wanted in (rules(accepts=(*RULES.accepts, "image/gif", "image/heic")), rules(accepts=())):
        with pytest.raises(Unshowable) as failed:
            optimised(data, media_type, wanted)
        assert failed.value.stage == stage


def test_a_file_that_is_two_things_is_only_an_image_when_it_is_made_anew() -> None:
    both = _jpeg() + _zip(b"hidden")
    made, _ = optimised(both, "image/jpeg", rules(accepts=("image/png",)))
    assert b"PK" not in made[-200:]
    assert read(made).size == (300, 200)


@pytest.mark.parametrize(("frames", "animated"), [(1, False), (2, True), (50, True)])
def test_an_animation_has_a_second_frame(frames: int, animated: bool) -> None:
    assert is_animated(gif(frames), "image/gif") is animated


@pytest.mark.parametrize(
    ("frames", "numbers"),
    [
        (1, [1]),
        (2, [1, 2]),
        (10, [1, 10]),
        (11, [1, 11]),
        (12, [1, 11, 12]),
        (35, [1, 11, 21, 31, 35]),
        (90, [1, 11, 21, 31, 41, 51, 61, 71, 81, 90]),
    ],
)
def test_every_tenth_frame_the_first_and_the_last_stand_for_a_gif(frames: int, numbers: list[int]) -> None:
    made = keyframes(gif(frames), KEYFRAMES)
    assert [frame.number for frame in made] == numbers
    for frame in made:
        pixel = read(frame.data).getpixel((20, 15))
        assert isinstance(pixel, tuple)
        shade = (frame.number - 1) * 7 % 256
        assert abs(pixel[0] - shade) < 10


def test_a_long_gif_has_ten_of_them_spread_over_all_of_it() -> None:
    numbers = [frame.number for frame in keyframes(gif(1_500, (8, 6)), KEYFRAMES)]
    assert len(numbers) == 10
    assert (numbers[0], numbers[-1]) == (1, 1_500)
    steps = [after - before for before, after in pairwise(numbers)]
    assert max(steps) <= 2 * min(steps)


def test_keyframes_are_progressive_and_800_wide_at_most() -> None:
    (frame,) = keyframes(encoded(noise(1_000, 500).quantize(), "GIF"), KEYFRAMES)
    image = read(frame.data)
    assert (image.size, image.info.get("progressive")) == ((800, 400), 1)


def test_transparent_frames_show_what_was_before() -> None:
    first = Image.new("RGBA", (40, 30), (255, 0, 0, 255))
    second = Image.new("RGBA", (40, 30), (0, 0, 0, 0))
    second.paste((0, 0, 255, 255), (0, 0, 10, 10))
    data = encoded(first, "GIF", save_all=True, append_images=[second], disposal=1, duration=50)
    last = read(keyframes(data, KEYFRAMES)[-1].data)
    pixel = last.getpixel((30, 25))
    assert isinstance(pixel, tuple)
    assert pixel[0] > 200


def test_the_time_for_a_gif_is_bounded_and_what_was_reached_is_shown() -> None:
    ticks = iter(range(1_000))
    bounded = KeyframeRules(every=10, most_frames=10, most_width=800, quality=80, seconds=25)
    numbers = [frame.number for frame in keyframes(gif(200), bounded, clock=lambda: float(next(ticks)))]
    assert numbers == [1, 11, 21, 26]


def test_a_gif_that_breaks_off_is_shown_as_far_as_it_goes() -> None:
    data = gif(40, (200, 200))
    numbers = [frame.number for frame in keyframes(data[: len(data) // 2], KEYFRAMES)]
    assert numbers[0] == 1
    assert numbers[-1] < 40
    with pytest.raises(Unshowable):
        keyframes(data[:20], KEYFRAMES)
