"""How long a provider asks us to wait, from its headers or its error body.

Order: `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds or as a date (RFC 9110, section 10.2.3), then the
RetryInfo detail of Google's error body (https://cloud.google.com/apis/design/errors).
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from services.normalizer.decode import is_array, is_object

MAX_RETRY_AFTER_S = 24 * 3600.0


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None, error: object = None) -> float | None:
    """Whole seconds, rounded up; 0 for a moment that has passed; at most a day. None when nothing usable was said.

    `headers` have lower-case names. `now` (aware) is when they came: without it a date says nothing. `error` is the
    error object of a JSON body.
    """
    seconds = _number(headers.get("retry-after-ms"), scale=0.001)
    if seconds is None:
        seconds = _number(headers.get("retry-after"))
    if seconds is None and now is not None:
        seconds = _date(headers.get("retry-after"), now)
    if seconds is None:
        seconds = _retry_info(error)
    if seconds is None:
        return None
    return float(math.ceil(min(max(seconds, 0.0), MAX_RETRY_AFTER_S)))


def _number(text: str | None, scale: float = 1.0) -> float | None:
    try:
        value = float(text or "") * scale
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _date(text: str | None, now: datetime) -> float | None:
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
        delay = detail.get("retryDelay") if is_object(detail) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _number(delay[:-1])
    return None
