"""Keys at rest: they open for their own row alone, and never show."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from services.catalog.errors import DecryptionFailed, NoCryptoSecret
from services.catalog.sealing import Binding, Keyring, Sealed
from services.runtime.settings import Settings

ONE, TWO = SecretStr("1" * 32), SecretStr("2" * 40)
KEY = SecretStr("sk-0123456789abcdef")
BINDING = Binding("saved_provider_configs", "row1", "server:1", "openai")


def test_a_sealed_key_opens_for_its_row() -> None:
    sealed = Keyring({1: ONE}).seal(KEY, BINDING)

    assert Keyring({1: ONE}).open(sealed, BINDING) == KEY
    assert KEY.get_secret_value().encode() not in sealed.ciphertext
    assert sealed.ciphertext != Keyring({1: ONE}).seal(KEY, BINDING).ciphertext


@pytest.mark.parametrize("field", ["table", "row", "owner", "provider"])
def test_a_ciphertext_in_another_row_does_not_open(field: str) -> None:
    sealed = Keyring({1: ONE}).seal(KEY, BINDING)

    with pytest.raises(DecryptionFailed, match="cannot be decrypted"):
        Keyring({1: ONE}).open(sealed, replace(BINDING, **{field: "other"}))


@given(st.lists(st.text(max_size=4), min_size=4, max_size=4), st.lists(st.text(max_size=4), min_size=4, max_size=4))
def test_no_two_bindings_are_written_alike(one: list[str], other: list[str]) -> None:
    assert (Binding(*one).as_bytes(1) == Binding(*other).as_bytes(1)) == (one == other)


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_anywhere_is_found(place: int, change: int) -> None:
    keyring = Keyring({1: ONE})
    sealed = keyring.seal(KEY, BINDING)
    broken = bytearray(sealed.ciphertext)
    broken[place % len(broken)] ^= change

    with pytest.raises(DecryptionFailed):
        keyring.open(Sealed(1, bytes(broken)), BINDING)


@pytest.mark.parametrize("ciphertext", [b"", b"short", bytes(12), bytes(28)])
def test_what_is_no_ciphertext_at_all_is_refused_in_the_same_way(ciphertext: bytes) -> None:
    with pytest.raises(DecryptionFailed):
        Keyring({1: ONE}).open(Sealed(1, ciphertext), BINDING)


def test_the_highest_version_seals_unless_another_is_named_and_older_ones_still_open() -> None:
    old = Keyring({1: ONE}).seal(KEY, BINDING)
    both = Keyring({2: TWO, 1: ONE})

    assert both.open(old, BINDING) == KEY
    assert both.seal(KEY, BINDING).version == 2
    assert Keyring({1: ONE, 2: TWO}, current=1).seal(KEY, BINDING).version == 1
    with pytest.raises(DecryptionFailed, match="secret version 1, which is not set") as gone:
        Keyring({2: TWO}).open(old, BINDING)
    assert "ODRADEK_CRYPTO_SECRET_V1" in gone.value.remedy


@pytest.mark.parametrize(
    ("secrets", "current", "complaint"),
    [
        ({}, None, "no secret to encrypt keys with"),
        ({1: ONE}, 2, "ODRADEK_CRYPTO_SECRET_V2 is not set"),
        ({1: SecretStr("too short, and shown nowhere")}, None, "ODRADEK_CRYPTO_SECRET_V1 has fewer than 32"),
    ],
)
def test_a_missing_or_weak_secret_refuses_to_start(
    secrets: dict[int, SecretStr], current: int | None, complaint: str
) -> None:
    with pytest.raises(NoCryptoSecret, match=complaint) as refused:
        Keyring(secrets, current)
    assert "shown nowhere" not in f"{refused.value}{refused.value.remedy}"


def test_the_secrets_come_from_the_environment_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_CRYPTO_SECRET_V2", "a" * 32)
    monkeypatch.setenv("ODRADEK_CRYPTO_SECRET_V11", "b" * 32)
    monkeypatch.setenv("ODRADEK_CRYPTO_SECRET_CURRENT", "2")

    settings = Settings()

    assert set(settings.crypto_secrets) == {2, 11}
    assert Keyring(settings.crypto_secrets, settings.crypto_secret_current).current == 2
    assert Keyring(settings.crypto_secrets).current == 11
    assert "aaaa" not in f"{settings!r}"


def test_nothing_of_a_key_or_secret_is_in_what_people_read() -> None:
    keyring = Keyring({1: ONE})
    sealed = keyring.seal(KEY, BINDING)
    shown = f"{keyring!r}{sealed!r}{BINDING!r}"

    assert KEY.get_secret_value() not in shown
    assert ONE.get_secret_value() not in shown
    assert "ciphertext" not in shown
