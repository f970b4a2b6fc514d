"""Masking an echoed secret, whatever way the bytes are cut."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

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
        assert given_ - shown < len(secret)


def test_a_placeholder_that_is_too_short_for_a_key_is_left_alone() -> None:
    masker = Masker("o" * (SHORTEST - 1))
    assert masker.feed(b"ooooooooooooo").data == b"ooooooooooooo"
    assert masker.rest() == b""


def test_a_header_is_masked_too() -> None:
    assert Masker("sk-0123456789").text("Bearer sk-0123456789!") == "Bearer *************!"
    assert Masker(None).text("Bearer") == "Bearer"
