"""The forms in which a provider may send a secret back: as it is, or as errors, logs and proxies write it."""

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote

_ESCAPABLE = re.compile(r"[^A-Za-z0-9._~-]")


def echoes(secret: str) -> tuple[bytes, ...]:
    """Every form once, longer ones first: a shorter one may be a part of them.

    Percent-encoding (RFC 3986), JSON with its optional escapes (RFC 8259, section 7), HTML, hexadecimal, and base64 in both
    alphabets wherever the secret begins in what was encoded, such as `user:KEY`. Of base64 the characters that
    hold bits of a neighbour are left out.
    """
    found = dict.fromkeys(form.encode() for form in _forms(secret))
    return tuple(sorted(found, key=len, reverse=True))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for spelled in (str.upper, str.lower):
        yield re.sub("%..", lambda found: spelled(found[0]), quote(secret, safe=""))  # noqa: B023 - used at once
        yield _ESCAPABLE.sub(lambda found: f"\\u{spelled(f'{ord(found[0]):04x}')}", secret)  # noqa: B023 - used at once
        yield spelled(secret.encode().hex())
    as_json = json.dumps(secret)[1:-1]
    yield as_json
    yield as_json.replace("/", "\\/")
    yield html.escape(secret)
    for before in range(3):
        core = _base64_core(secret.encode(), before)
        yield core
        yield core.replace("+", "-").replace("/", "_")


def _base64_core(secret: bytes, before: int) -> str:
    """What is the same in the base64 of any text with the secret after `before` bytes, counted modulo 3."""
    text = base64.b64encode(bytes(before) + secret).decode()
    return text[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
