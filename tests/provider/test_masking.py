"""Masking an echoed secret, whatever way the bytes are cut."""

import base64
import html
import itertools
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.provider.echoes import echoes
from services.provider.masking import SHORTEST, Masker

SECRETS = st.sampled_from(["abababab", "sk-0123456789", "aaaaaaaaab", "abcabcabd", "********x"])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(
    SECRETS,
    st.lists(st.one_of(st.none(), st.text("abck-s0123456789*", max_size=12)), max_size=12),
    st.lists(st.integers(0, 10_000), max_size=20),
)
def test_whatever_the_cuts_the_secret_is_gone_and_every_other_byte_is_kept(
    secret: str, parts: list[str | None], places: list[int]
) -> None:
    body = "".join(secret if part is None else part for part in parts).encode()
    masker = Masker(secret)
    out = [masker.feed(piece) for piece in cut(body, places)]
    shown = b"".join(piece.data for piece in out) + masker.rest()
    key = secret.encode()
    assert shown == body.replace(key, b"*" * len(key))
    assert any(piece.hit for piece in out) == (key in body)


@given(SECRETS, st.lists(st.binary(max_size=30), max_size=10))
def test_less_than_the_secret_is_held_back(secret: str, pieces: list[bytes]) -> None:
    masker = Masker(secret)
    given_ = shown = 0
    for piece in pieces:
        given_ += len(piece)
        shown += len(masker.feed(piece).data)
        assert given_ - shown < max(map(len, echoes(secret)))


def test_a_placeholder_that_is_too_short_for_a_key_is_left_alone() -> None:
    masker = Masker("o" * (SHORTEST - 1))
    assert masker.feed(b"ooooooooooooo").data == b"ooooooooooooo"
    assert masker.rest() == b""


def test_a_header_is_masked_too() -> None:
    assert Masker("sk-0123456789").text("Bearer sk-0123456789!") == "Bearer *************!"
    assert Masker(None).text("Bearer") == "Bearer"


KEY = "sk-proj-Ab3/+x=9_7'&\"z" * 2
FORMS: list[tuple[str, str]] = [
    ("percent", quote(KEY, safe="")),
    ("percent in lower case", re.sub("%..", lambda found: found[0].lower(), quote(KEY, safe=""))),
    ("json", json.dumps(KEY)),
    ("json with escaped slashes", json.dumps(KEY).replace("/", "\\/")),
    ("html", html.escape(KEY)),
    ("hexadecimal", KEY.encode().hex()),
    *(
        (f"base64 after {before}", base64.b64encode(b"u" * before + KEY.encode() + b"v").decode())
        for before in range(5)
    ),
    *(
        (f"base64url after {before}", base64.urlsafe_b64encode(b"u" * before + KEY.encode()).decode())
        for before in range(3)
    ),
]


@pytest.mark.parametrize("form", [form for _, form in FORMS], ids=[name for name, _ in FORMS])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_key_is_masked_in_the_forms_that_errors_and_proxies_write(form: str, size: int) -> None:
    body = f'{{"error": "no {form} here"}}'.encode()
    masker = Masker(KEY)
    shown = b"".join(masker.feed(body[at : at + size]).data for at in range(0, len(body), size)) + masker.rest()
    assert len(shown) == len(body)
    assert shown.startswith(b'{"error": "no ')
    assert shown.endswith(b' here"}')
    readable = re.sub(rb"\*+", b"", shown[14:-7])
    assert len(readable) <= 12  # the ends of what was encoded around it
    assert Masker(KEY).text(body.decode()) == shown.decode()


@pytest.mark.parametrize("form", [name for name, _ in FORMS])
def test_what_is_left_of_an_encoded_key_decodes_to_nothing_of_it(form: str) -> None:
    shown = Masker(KEY).text(dict(FORMS)[form])
    assert not any(KEY[at : at + 4] in shown for at in range(len(KEY) - 3))


@settings(deadline=None)
@given(st.text("abcdefXYZ0123456789-_/+=", min_size=SHORTEST, max_size=40), st.binary(max_size=5), st.integers(1, 9))
def test_any_key_is_masked_in_base64_wherever_it_begins(key: str, before: bytes, size: int) -> None:
    encoded = base64.b64encode(before + key.encode() + b"tail")
    masker = Masker(key)
    pieces = [masker.feed(encoded[at : at + size]) for at in range(0, len(encoded), size)]
    assert any(piece.hit for piece in pieces)
