"""How long a provider asks us to wait, from its headers or its error body.

Order: `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds or as a date (RFC 9110, section 10.2.3; also as a
length such as `30s` or as a moment in seconds since 1970 or after RFC 3339, which gateways write there), the RetryInfo
detail of Google's error body (https://cloud.google.com/apis/design/errors), `retry_after` in Cloudflare's JSON,
`estimated_time` of a model that Hugging Face is loading. For a rate limit also when the limit that was met is renewed:
OpenAI's and Groq's `x-ratelimit-reset-*` as a length (https://platform.openai.com/docs/guides/rate-limits), Anthropic's
`anthropic-ratelimit-*-reset` as a moment (https://docs.anthropic.com/en/api/rate-limits), `x-ratelimit-reset` in seconds
(Together) or as a moment in milliseconds, which OpenRouter puts into the body
(https://openrouter.ai/docs/api-reference/limits).
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from services.normalizer.decode import is_array, is_object

MAX_RETRY_AFTER_S = 24 * 3600.0

LIMITS = ("requests", "tokens")
ANTHROPIC_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")

_EPOCH_MS = 1e11
_EPOCH_S = 1e9
_EPOCH_LIMIT_S = 1e10
_LENGTH = re.compile(
    r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?"
)


def retry_after_s(
    headers: Mapping[str, str], now: datetime | None = None, error: object = None, *, limited: bool = False
) -> float | None:
    """Whole seconds, rounded up; 0 for a moment that has passed; at most a day. None when nothing usable was said.

    `headers` have lower-case names. `now` (aware) is when they came: without it a moment says nothing. `error` is the
    error object of a JSON body. `limited`: the answer is a rate limit.
    """
    asked = _asked(headers, now, error, limited=limited)
    seconds = next((one for one in asked if one is not None), None)
    return None if seconds is None else float(math.ceil(min(max(seconds, 0.0), MAX_RETRY_AFTER_S)))


def _asked(headers: Mapping[str, str], now: datetime | None, error: object, *, limited: bool) -> Iterator[float | None]:
    if headers:  # an error inside a stream has none
        yield _number(headers.get("retry-after-ms"), scale=0.001)
        yield _waits(headers.get("retry-after"), now)
        yield _date(headers.get("retry-after"), now)
        yield _iso(headers.get("retry-after"), now)
    if is_object(error):
        if "details" in error:
            yield _retry_info(error)
        if "retry_after" in error:
            yield _number(error["retry_after"])
        if "estimated_time" in error:
            yield _number(error["estimated_time"])
    if limited:
        yield _renewed(headers, now, error)


def _number(value: object, scale: float = 1.0) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value) * scale
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _waits(text: str | None, now: datetime | None) -> float | None:
    """`Retry-After` as a number or a length; a number of more than thirty years is a moment in seconds since 1970."""
    number = _number(text)
    return _reset(text, now) if number is None or number < _EPOCH_LIMIT_S else number


def _date(text: str | None, now: datetime | None) -> float | None:
    if now is None:
        return None
    try:
        moment = parsedate_to_datetime(text or "")
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - now).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _retry_info(error: object) -> float | None:
    details: Any = error.get("details") if is_object(error) else None
    for detail in details if is_array(details) else []:
        delay: Any = detail.get("retryDelay") if is_object(detail) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _number(delay[:-1])
        if is_object(delay):
            return _number(delay.get("seconds"))
    return None


def _renewed(headers: Mapping[str, str], now: datetime | None, error: object) -> float | None:
    """When the last of the limits that are used up is renewed."""
    waits = [
        _length(headers.get(f"x-ratelimit-reset-{limit}"))
        for limit in LIMITS
        if _number(headers.get(f"x-ratelimit-remaining-{limit}")) == 0
    ]
    waits += [
        _iso(headers.get(f"anthropic-ratelimit-{limit}-reset"), now)
        for limit in ANTHROPIC_LIMITS
        if _number(headers.get(f"anthropic-ratelimit-{limit}-remaining")) == 0
    ]
    waits.append(_reset(headers.get("x-ratelimit-reset"), now))
    waits.append(_reset(_in_body(error), now))
    known = [wait for wait in waits if wait is not None]
    return max(known, default=None)


def _in_body(error: object) -> object:
    metadata: Any = error.get("metadata") if is_object(error) else None
    told: Any = metadata.get("headers") if is_object(metadata) else None
    return told.get("X-RateLimit-Reset") if is_object(told) else None


def _reset(value: object, now: datetime | None) -> float | None:
    """A number of seconds, or a moment in seconds or milliseconds since 1970: they differ by their size."""
    number = _number(value)
    if number is None:
        return _length(value) if isinstance(value, str) else None
    if number < _EPOCH_S:
        return number
    if now is None:
        return None
    return (number / 1000 if number > _EPOCH_MS else number) - now.timestamp()


def _length(text: str | None) -> float | None:
    """A length such as `1h2m3.5s` or `120ms`."""
    found = _LENGTH.fullmatch((text or "").strip())
    if found is None or not any(found.groups()):
        return None
    scales = (86_400.0, 3600.0, 60.0, 1.0, 0.001)
    return sum(float(part) * scale for part, scale in zip(found.groups(), scales, strict=True) if part)


def _iso(text: str | None, now: datetime | None) -> float | None:
    if now is None or not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
