"""Keys at rest: AES-256-GCM under a versioned secret, bound to the row that they belong to.

GCM and not Fernet, because only it takes associated data: a ciphertext that is copied into another row, table or owner
does not open there. The cipher's key is made from the operator's secret by HKDF-SHA256 (RFC 5869). Each sealing takes 12
random bytes as its nonce, which is safe for 2**32 sealings under one secret (NIST SP 800-38D, 8.3).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

from services.catalog.errors import DecryptionFailed, NoCryptoSecret

LEAST_SECRET = 32
_NONCE = 12
_GENERATE = "openssl rand -base64 32"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A ciphertext as the database has it: nonce, cipher and tag in one, and the version of its secret."""

    version: int
    ciphertext: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Binding:
    """The row that a ciphertext belongs to: its table, its id, its owner, and the provider that gets the key."""

    table: str
    row: str
    owner: str
    provider: str

    def as_bytes(self, version: int) -> bytes:
        """An encoding that no two different bindings share: each field with its length before it."""
        fields = (self.table, self.row, self.owner, self.provider, str(version))
        return b"".join(len(text.encode()).to_bytes(4) + text.encode() for text in fields)


class Keyring:
    """The secrets by version. Seals with the current one, opens with each. Nothing of it is ever shown."""

    def __init__(self, secrets: Mapping[int, SecretStr], current: int | None = None) -> None:
        """Without `current` the highest version is it; raises NoCryptoSecret where that one is missing or too short."""
        if not secrets:
            raise NoCryptoSecret(
                "there is no secret to encrypt keys with",
                remedy=f"Set ODRADEK_CRYPTO_SECRET_V1, for example to the output of `{_GENERATE}`, and keep it safe.",
            )
        self.current = max(secrets) if current is None else current
        if self.current not in secrets:
            raise NoCryptoSecret(
                f"ODRADEK_CRYPTO_SECRET_CURRENT is {self.current}, but ODRADEK_CRYPTO_SECRET_V{self.current} is not set",
                remedy="Set that secret, or name a version that is set.",
            )
        for version, secret in secrets.items():
            if len(secret.get_secret_value()) < LEAST_SECRET:
                raise NoCryptoSecret(
                    f"ODRADEK_CRYPTO_SECRET_V{version} has fewer than {LEAST_SECRET} characters",
                    remedy=f"Use a random one, for example the output of `{_GENERATE}`.",
                )
        self._ciphers = {version: AESGCM(_cipher_key(secret)) for version, secret in secrets.items()}

    def seal(self, key: SecretStr, binding: Binding) -> Sealed:
        """The key under the current secret, for this row alone."""
        nonce = os.urandom(_NONCE)
        cipher = self._ciphers[self.current]
        text = cipher.encrypt(nonce, key.get_secret_value().encode(), binding.as_bytes(self.current))
        return Sealed(self.current, nonce + text)

    def open(self, sealed: Sealed, binding: Binding) -> SecretStr:
        """The key; raises DecryptionFailed, which says why and shows nothing of it."""
        cipher = self._ciphers.get(sealed.version)
        if cipher is None:
            raise DecryptionFailed(
                f"a key of {binding.provider} is encrypted with secret version {sealed.version}, which is not set",
                remedy=f"Set ODRADEK_CRYPTO_SECRET_V{sealed.version}, or add the key anew.",
            )
        nonce, text = sealed.ciphertext[:_NONCE], sealed.ciphertext[_NONCE:]
        try:
            return SecretStr(cipher.decrypt(nonce, text, binding.as_bytes(sealed.version)).decode())
        except (InvalidTag, ValueError):
            raise DecryptionFailed(
                f"a key of {binding.provider} cannot be decrypted with secret version {sealed.version}",
                remedy="Set the secret that it was encrypted with, or add the key anew.",
            ) from None


def _cipher_key(secret: SecretStr) -> bytes:
    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"odradek catalog keys at rest")
    return derivation.derive(secret.get_secret_value().encode())
