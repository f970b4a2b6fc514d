"""Overwrites a secret that the provider sends back, byte for byte, also where it is cut over slices."""

from dataclasses import dataclass

from services.provider.echoes import echoes

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
    """Masks one secret in one stream, in all forms of `echoes`. Holds back less than the longest form has."""

    __slots__ = ("_forms", "_held")

    def __init__(self, secret: str | None) -> None:
        self._forms = () if secret is None or len(secret) < SHORTEST else echoes(secret)
        self._held = b""

    def feed(self, data: bytes) -> Masked:
        """The bytes that can go on, in order; an end that may be a form's beginning is held back."""
        if not self._forms:
            return Masked(data)
        data = self._held + data
        hit = False
        for form in self._forms:
            if form in data:
                hit = True
                data = data.replace(form, _MASK * len(form))
        keep = max(_possible_beginning(data, form) for form in self._forms)
        self._held = data[len(data) - keep :]
        return Masked(data[: len(data) - keep], hit)

    def rest(self) -> bytes:
        """What was held back and turned out to be no secret, at the end of the stream."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        """A short text, such as a header, with the secret masked."""
        for form in self._forms:
            value = value.replace(form.decode(), "*" * len(form.decode()))
        return value


def _possible_beginning(data: bytes, form: bytes) -> int:
    """The length of the longest end of `data` that is a proper beginning of `form`."""
    end = data[max(0, len(data) - len(form) + 1) :]
    start = end.find(form[:1])
    while start >= 0:
        if form.startswith(end[start:]):
            return len(end) - start
        start = end.find(form[:1], start + 1)
    return 0
