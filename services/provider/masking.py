"""Overwrites a secret that the provider sends back, byte for byte, also where it is cut over slices."""

from dataclasses import dataclass

SHORTEST = 8
"""Shorter secrets are not masked: no provider gives out such keys, and placeholders of local servers (`none`, `ollama`)
stand in honest replies."""

_MASK = b"*"


@dataclass(frozen=True, slots=True)
class Masked:
    """Bytes that may be shown; `hit` says that a secret began in them or before them and was overwritten."""

    data: bytes
    hit: bool = False


class Masker:
    """Masks one secret in one stream. Holds back at most one byte less than the secret has."""

    __slots__ = ("_held", "_secret")

    def __init__(self, secret: str | None) -> None:
        found = (secret or "").encode()
        self._secret = found if len(found) >= SHORTEST else b""
        self._held = b""

    def feed(self, data: bytes) -> Masked:
        """The bytes that can go on, in order; an end that may be the secret's beginning is held back."""
        secret = self._secret
        if not secret:
            return Masked(data)
        data = self._held + data
        hit = secret in data
        if hit:
            data = data.replace(secret, _MASK * len(secret))
        keep = _possible_beginning(data, secret)
        self._held = data[len(data) - keep :]
        return Masked(data[: len(data) - keep], hit)

    def rest(self) -> bytes:
        """What was held back and turned out to be no secret, at the end of the stream."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        """A short text, such as a header, with the secret masked."""
        if not self._secret:
            return value
        return value.replace(self._secret.decode(), "*" * len(self._secret))


def _possible_beginning(data: bytes, secret: bytes) -> int:
    """The length of the longest end of `data` that is a proper beginning of `secret`."""
    for length in range(min(len(data), len(secret) - 1), 0, -1):
        if data.endswith(secret[:length]):
            return length
    return 0
