"""Refusals, in-stream errors and broken endings become one ProviderError.

Structured facts decide, in this order: a code or type that is a reason of its own, the HTTP status (or a number in the
code, when the stream itself was a 200), a code or type that only names a family. The wording of a message decides
nothing here.

Codes and types are those of the providers' pages: https://platform.openai.com/docs/guides/error-codes,
https://docs.anthropic.com/en/api/errors, https://ai.google.dev/gemini-api/docs/troubleshooting,
https://openrouter.ai/docs/api-reference/errors.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from schemas.chunks import ProviderError, ProviderErrorType
from services.normalizer.decode import UNREADABLE, is_array, is_object, loads
from services.normalizer.retry_after import retry_after_s
from services.normalizer.unicode import clean

MAX_MESSAGE_CHARS = 4000
MAX_ORIGINAL_CHARS = 2000
MAX_CODE_CHARS = 100
MAX_BODY_BYTES = 256 * 1024

_Class = tuple[ProviderErrorType, bool]

_REASONS: dict[str, _Class] = {
    **dict.fromkeys(
        (
            "insufficient_quota",
            "insufficient_balance",
            "insufficient_credits",
            "billing_hard_limit_reached",
            "billing_not_active",
            "billing_error",
            "exceeded_current_quota_error",
            "payment_required",
            "invalid_api_key",
            "wrong_api_key",
            "authentication_error",
            "permission_error",
            "permission_denied",
            "unauthenticated",
            "context_length_exceeded",
            "request_too_large",
        ),
        ("api_error", False),
    ),
    **dict.fromkeys(
        ("rate_limit_error", "rate_limit_exceeded", "rate_limited", "resource_exhausted", "too_many_requests"),
        ("rate_limit", True),
    ),
    **dict.fromkeys(
        (
            "overloaded_error",
            "engine_overloaded_error",
            "overloaded",
            "service_unavailable",
            "unavailable",
            "unavailable_error",
            "capacity_exceeded",
        ),
        ("provider_overloaded", True),
    ),
    **dict.fromkeys(
        ("timeout_error", "timeout", "request_timeout", "gateway_timeout", "deadline_exceeded"), ("timeout", True)
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "content_policy_violation",
            "responsibleaipolicyviolation",
            "data_inspection_failed",
            "content_blocked",
        ),
        ("content_blocked", False),
    ),
    **dict.fromkeys(
        ("model_not_found", "unsupported_model", "model_not_supported", "invalid_model", "deprecated_model"),
        ("model_error", False),
    ),
}

_STATUSES: dict[int, _Class] = {
    408: ("timeout", True),
    429: ("rate_limit", True),
    500: ("api_error", True),
    502: ("provider_overloaded", True),
    503: ("provider_overloaded", True),
    504: ("timeout", True),
    522: ("timeout", True),
    524: ("timeout", True),
    529: ("provider_overloaded", True),
}

_FAMILIES: dict[str, _Class] = {
    **dict.fromkeys(("api_error", "server_error", "internal_server_error", "internal"), ("api_error", True)),
    **dict.fromkeys(
        ("invalid_request_error", "not_found_error", "invalid_argument", "not_found", "failed_precondition"),
        ("api_error", False),
    ),
}

_BEYOND_RETRY = frozenset({400, 401, 402, 403, 404, 413, 422})
"""Statuses of a request that stays refused however long one waits, whatever the code beside them says."""

_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")


def stream_error(code: str, message: str, *, original: str | None = None, retryable: bool = True) -> ProviderError:
    """An api_error of our own making: what was received is no complete stream."""
    return ProviderError(
        type="api_error",
        code=code,
        message=clean(message)[:MAX_MESSAGE_CHARS],
        retryable=retryable,
        original=None if original is None else clean(original)[:MAX_ORIGINAL_CHARS],
    )


def http_error(status: int, headers: Mapping[str, str], body: bytes, now: datetime | None = None) -> ProviderError:
    """A refused request; `now` (aware) is when the answer came. The body may be JSON, HTML, text or nothing."""
    lowered = {name.lower(): value for name, value in headers.items()}
    body = body[:MAX_BODY_BYTES]
    text = body.decode("utf-8", "replace")
    try:
        payload: object = loads(body)
    except UNREADABLE:
        payload = None
    if is_array(payload) and payload:
        payload = payload[0]
    if is_object(payload):
        return _classify(payload, text, status, lowered, now)
    message = payload if isinstance(payload, str) else _plain(text)
    return _classify({"message": message or f"HTTP {status}"}, text, status, lowered, now)


def event_error(payload: object, original: bytes) -> ProviderError:
    """An error object (or bare text) inside a stream whose status was 200."""
    root: dict[str, Any] = payload if is_object(payload) else {"message": payload}
    return _classify(root, original[:MAX_BODY_BYTES].decode("utf-8", "replace"), None, {}, None)


def _classify(
    root: dict[str, Any], original: str, status: int | None, headers: Mapping[str, str], now: datetime | None
) -> ProviderError:
    inner: Any = root.get("error")
    error: dict[str, Any] = inner if is_object(inner) else root
    words = [_word(error.get(key)) for key in ("code", "type", "status")]
    nested: Any = error.get("innererror")
    if is_object(nested):
        words.append(_word(nested.get("code")))
    if error is not root:
        words.append(_word(root.get("code")))
    numbers = [int(word) for word in words if word.isdecimal() and len(word) == 3]
    effective = status if status is not None else next(iter(numbers), None)
    kind, retryable = _class_of(words, effective)
    if effective in _BEYOND_RETRY and retryable:
        kind, retryable = "api_error", False
    retryable = {"true": True, "false": False}.get(headers.get("x-should-retry", ""), retryable)
    code = next((word for word in words if word and word != "error"), "") or str(effective or "unknown")
    return ProviderError(
        type=kind,
        code=clean(code)[:MAX_CODE_CHARS],
        message=clean(_message(error, inner) or f"error {code}")[:MAX_MESSAGE_CHARS],
        retryable=retryable,
        retry_after_s=retry_after_s(headers, now, error),
        original=clean(original)[:MAX_ORIGINAL_CHARS] or None,
    )


def _class_of(words: list[str], status: int | None) -> _Class:
    lowered = [word.lower() for word in words]
    for word in lowered:
        if word in _REASONS:
            return _REASONS[word]
    if status is not None and status >= 400:
        return _STATUSES.get(status, ("api_error", status >= 500))
    for word in lowered:
        if word in _FAMILIES:
            return _FAMILIES[word]
    return "api_error", False


def _word(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)[: 2 * MAX_CODE_CHARS].strip()


def _message(error: dict[str, Any], inner: object) -> str:
    said: Any = inner if isinstance(inner, str) else error.get("message") or error.get("detail") or error.get("msg")
    text = _text_of(said)
    metadata: Any = error.get("metadata")
    upstream = _text_of(_unwrapped(metadata.get("raw"))) if is_object(metadata) else ""
    if upstream and upstream not in text:
        return f"{text}: {upstream}" if text else upstream
    return text


def _unwrapped(raw: object) -> object:
    """The text inside an upstream error that a router passes on as a string of JSON."""
    if not isinstance(raw, str) or not raw.lstrip().startswith("{"):
        return raw
    try:
        value: object = json.loads(raw[:MAX_BODY_BYTES])
    except UNREADABLE:
        return raw
    inner: Any = value.get("error", value) if is_object(value) else value
    return inner.get("message", raw) if is_object(inner) else inner


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or value == {} or value == []:
        return ""
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
    """The words of an HTML page or of plain text, on one line."""
    head = text[:MAX_MESSAGE_CHARS]
    if "<" in head:
        head = _TAGS.sub(" ", _SCRIPTS.sub(" ", head))
    return " ".join(head.split())
