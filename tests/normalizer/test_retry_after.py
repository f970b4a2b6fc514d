"""How long to wait is read in every form that a provider uses, and is a whole number of seconds within a day."""

import json
from datetime import UTC, datetime

import pytest

from services.normalizer.errors import http_error
from services.normalizer.errors.families import OPENROUTER

NOON = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After-Ms": "1500", "retry-after": "9"}, 2.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.2"}, 1.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e300"}, 86400.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:10 GMT"}, 10.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 13:00:10 +0100"}, 10.0),
        ({"retry-after": "30s"}, 30.0),
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": "2026-11-30T12:00:10Z"}, 10.0),
        ({"retry-after": str(int(NOON.timestamp()) + 5)}, 5.0),
        ({"retry-after": "999999999999"}, 86400.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert http_error(429, headers, b"", NOON).retry_after_s == seconds


def test_a_date_says_nothing_without_a_moment_to_read_it_against() -> None:
    assert http_error(429, {"retry-after": "Mon, 30 Nov 2026 12:00:10 GMT"}, b"").retry_after_s is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9.816s"}, 10.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}, 63.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "120ms"}, 1.0),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1m"}, None),
        ({"x-ratelimit-reset": "17"}, 17.0),
        ({"x-ratelimit-reset": str(int(NOON.timestamp()) + 5)}, 5.0),
        ({"x-ratelimit-reset": str(int(NOON.timestamp()) * 1000 + 5_500)}, 5.0),
        ({"x-ratelimit-reset": "soon"}, None),
        (
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-30T12:00:30Z",
            },
            30.0,
        ),
        ({"retry-after": "3", "x-ratelimit-reset": "17"}, 3.0),
    ],
)
def test_a_rate_limit_waits_for_the_limit_that_is_used_up(headers: dict[str, str], seconds: float | None) -> None:
    assert http_error(429, headers, b"", NOON).retry_after_s == seconds
    if "retry-after" not in headers:
        assert http_error(503, headers, b"", NOON).retry_after_s is None


def test_a_wait_may_stand_in_the_body() -> None:
    reset = (int(NOON.timestamp()) + 60) * 1000
    body = {"error": {"code": 429, "message": "slow", "metadata": {"headers": {"X-RateLimit-Reset": str(reset)}}}}
    assert http_error(429, {}, json.dumps(body).encode(), NOON, family=OPENROUTER).retry_after_s == 60.0
    assert http_error(503, {}, b'{"error": "Model is loading", "estimated_time": 19.2}').retry_after_s == 20.0
    google = {"error": {"code": 429, "details": [{"retryDelay": {"seconds": 7}}]}}
    assert http_error(429, {}, json.dumps(google).encode()).retry_after_s == 7.0
