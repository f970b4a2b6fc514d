"""Refusals, in-stream errors and broken endings become one ProviderError, by the rules of the provider's family."""

import json
import re
import zlib
from collections.abc import Mapping
from datetime import datetime

from schemas.chunks import ProviderError
from schemas.redaction import hidden
from services.normalizer.decode import UNREADABLE, first_of, is_object, loads
from services.normalizer.errors.body import MAX_CODE_CHARS, Said, said
from services.normalizer.errors.families import OPENAI, Family
from services.normalizer.errors.reason import reason_of
from services.normalizer.errors.reasons import MEANINGS, PASSING
from services.normalizer.errors.retry_after import retry_after_s
from services.normalizer.unicode import clean

MAX_MESSAGE_CHARS = 4000
MAX_ORIGINAL_CHARS = 2000
MAX_BODY_BYTES = 256 * 1024

_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml|center|h1)\b", re.IGNORECASE)


def stream_error(code: str, message: str, *, original: str | None = None, retryable: bool = True) -> ProviderError:
    """An api_error of our own making: what was received is no complete stream."""
    return ProviderError(
        type="api_error",
        code=code,
        message=hidden(clean(message)[:MAX_MESSAGE_CHARS]),
        retryable=retryable,
        original=None if original is None else hidden(clean(original)[:MAX_ORIGINAL_CHARS]),
    )


def http_error(
    status: int, headers: Mapping[str, str], body: bytes, now: datetime | None = None, *, family: Family = OPENAI
) -> ProviderError:
    """A refused request; `now` (aware) is when the answer came. The body may be JSON, HTML, text or nothing."""
    lowered = {name.lower(): value for name, value in headers.items()}
    text = _decoded(body[:MAX_BODY_BYTES])
    try:
        payload: object = first_of(loads(text.encode("utf-8", "surrogatepass")))
    except UNREADABLE:
        payload = None
    if is_object(payload):
        return _error(said(payload), text, status, lowered, now, family)
    message = payload if isinstance(payload, str) else _plain(text)
    words = Said((), None, message or f"HTTP {status}", {})
    return _error(words, text, status, lowered, now, family, page=_PAGE.match(text) is not None)


def event_error(payload: object, original: bytes, family: Family = OPENAI) -> ProviderError:
    """An error object (or bare text) inside a stream whose status was 200."""
    text = original[:MAX_BODY_BYTES].decode("utf-8", "replace")
    words = said(payload if is_object(payload) else {"message": payload})
    return _error(words, text, None, {}, None, family)


def _error(
    words: Said,
    original: str,
    status: int | None,
    headers: Mapping[str, str],
    now: datetime | None,
    family: Family,
    *,
    page: bool = False,
) -> ProviderError:
    message = clean(words.message)[:MAX_MESSAGE_CHARS]
    effective = status if status is not None and status >= 300 else words.status
    reason = reason_of(words, effective, message, family, page=page)
    meaning = MEANINGS[reason]
    retryable = meaning.retryable
    if reason in PASSING or reason == "request":
        # https://github.com/openai/openai-python and anthropic-sdk-python heed the same header.
        retryable = {"true": True, "false": False}.get(headers.get("x-should-retry", ""), retryable)
    code = _code(words, effective, billed=meaning.advice == "exhausted_balance", plan=reason == "plan")
    return ProviderError(
        type=meaning.type,
        code=hidden(clean(code)[:MAX_CODE_CHARS]),
        message=hidden(message or f"error {code}"),
        retryable=retryable,
        retry_after_s=retry_after_s(headers, now, words.error, limited=reason == "rate_limit"),
        original=hidden(clean(original)[:MAX_ORIGINAL_CHARS]) or None,
        classifiers=() if meaning.advice is None else (meaning.advice,),
    )


def _code(words: Said, status: int | None, *, billed: bool, plan: bool) -> str:
    """The provider's own code, else the status; a 429 that is no rate limit does not read as one."""
    code = words.code or str(status or "unknown")
    if code in ("429", "rate_limit_error") and billed:
        return "429_balance"
    if code in ("429", "rate_limit_error") and plan:
        return "429_plan_access"
    return code


def _decoded(body: bytes) -> str:
    """The text of a body: packed or not, in one of Unicode's encodings; nothing of what is no text at all."""
    if body.startswith(b"\x1f\x8b"):
        try:
            body = zlib.decompressobj(wbits=31).decompress(body, MAX_BODY_BYTES)
        except zlib.error:
            return ""
    text = body.decode(json.detect_encoding(body), "replace").removeprefix("\ufeff")
    return "" if "\x00" in text[:MAX_MESSAGE_CHARS] else text


def _plain(text: str) -> str:
    """The words of an HTML page or of plain text, on one line."""
    head = text[:MAX_MESSAGE_CHARS]
    if "<" in head:
        head = _TAGS.sub(" ", _SCRIPTS.sub(" ", head))
    return " ".join(head.split())
