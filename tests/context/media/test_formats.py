"""What a file is, by its bytes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from services.context.media.formats import image_type, video_type
from tests.context.media.conftest import HEIC, encoded, gif

SMALL = Image.new("RGB", (3, 2))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encoded(SMALL, "PNG"), "image/png"),
        (encoded(SMALL, "JPEG"), "image/jpeg"),
        (encoded(SMALL, "WEBP"), "image/webp"),
        (gif(2), "image/gif"),
        (HEIC, "image/heic"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1miaf", "image/heif"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x1cftypavif\0\0\0\0mif1avif", None),
        (encoded(SMALL, "BMP"), None),
        (encoded(SMALL, "TIFF"), None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"<?xml version='1.0'?><svg/>", None),
        (b"<html>", None),
        (b"%PDF-1.7", None),
        (b"PK\x03\x04", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"", None),
    ],
)  # fmt: skip
def test_an_image_is_known_by_its_first_bytes(data: bytes, expected: str | None) -> None:
    assert image_type(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\0\0\0\x18ftypisom\0\0\2\0isommp42", "video/mp4"),
        (b"\0\0\0\x14ftypqt  \0\0\2\0qt  ", "video/mov"),
        (b"\0\0\0\x14ftyp3gp5\0\0\2\x003gp5", "video/3gpp"),
        (b"\0\0\0\x08wide", "video/mov"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9fB\x82\x88matroska", None),
        (b"RIFF\0\0\0\0AVI LIST", "video/avi"),
        (b"FLV\x01\x05", "video/x-flv"),
        (b"\0\0\1\xba\x44", "video/mpeg"),
        (bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + b"\0", "video/wmv"),
        (HEIC, None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_a_video_is_known_by_its_first_bytes(data: bytes, expected: str | None) -> None:
    assert video_type(data) == expected


@given(st.binary(max_size=64))
def test_any_bytes_have_a_type_or_none(data: bytes) -> None:
    for start in (b"", b"\0\0\0\x20ftyp", b"RIFF"):
        image_type(start + data)
        video_type(start + data)
