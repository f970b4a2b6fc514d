"""Rate limits: a bucket a route and major parameter, and one for all of a bot's requests.

Source: https://docs.discord.com/developers/topics/rate-limits
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from services.sandbox.discord.jsontypes import JsonObject

_IDLE_BUCKETS_CHECKED_AT = 4_096


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `limit` requests in `window_s` seconds from the first one on."""

    limit: int
    window_s: float


_RATES = MappingProxyType(
    {
        "message-create": Rate(5, 5.0),
        "message-edit": Rate(5, 5.0),
        "message-delete": Rate(5, 5.0),
        "typing": Rate(5, 5.0),
        "webhook-execute": Rate(5, 2.0),
    }
)


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """`rates` by the endpoint's bucket; `other` for the rest; `overall` for all requests with the bot's token."""

    enabled: bool = True
    rates: Mapping[str, Rate] = field(default_factory=lambda: _RATES)
    other: Rate = Rate(50, 1.0)
    overall: Rate = Rate(50, 1.0)


@dataclass(slots=True)
class _Window:
    ends: float
    used: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a request stands in its bucket; `retry_after_s` is set if it is refused, `overall` if by the bot's own."""

    headers: Mapping[str, str]
    retry_after_s: float | None = None
    overall: bool = False

    def body(self) -> JsonObject:
        retry_after = round(self.retry_after_s or 0.0, 3)
        return {"message": "You are being rate limited.", "retry_after": retry_after, "global": self.overall}


class Limits:
    def __init__(self, config: LimitsConfig) -> None:
        self.config = config
        self._windows = dict[tuple[str, str], _Window]()
        self._overall = _Window(0.0, 0)

    def check(self, bucket: str, major: str, now: float, wall: float, *, counts_overall: bool) -> Verdict:
        """Count a request at `now` (seconds of a steady clock; `wall` is Unix time in seconds, for a header)."""
        config = self.config
        if not config.enabled:
            return Verdict({})
        rate = config.rates.get(bucket, config.other)
        window = self._window(bucket, major, rate, now)
        if counts_overall:
            if now >= self._overall.ends:
                self._overall = _Window(now + config.overall.window_s, 0)
            if self._overall.used >= config.overall.limit:
                return refusal(self._overall.ends - now, "global")
            self._overall.used += 1
        refused = window.used >= rate.limit
        window.used += not refused
        reset_after = max(0.001, window.ends - now)
        headers = {
            "X-RateLimit-Limit": str(rate.limit),
            "X-RateLimit-Remaining": str(rate.limit - window.used),
            "X-RateLimit-Reset": f"{wall + reset_after:.3f}",
            "X-RateLimit-Reset-After": f"{reset_after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(bucket.encode()).hexdigest()[:32],
        }
        if not refused:
            return Verdict(headers)
        verdict = refusal(reset_after, "user")
        return Verdict({**headers, **verdict.headers}, verdict.retry_after_s)

    def _window(self, bucket: str, major: str, rate: Rate, now: float) -> _Window:
        window = self._windows.get((bucket, major))
        if window is None or now >= window.ends:
            if len(self._windows) >= _IDLE_BUCKETS_CHECKED_AT:
                self._windows = {key: kept for key, kept in self._windows.items() if kept.ends > now}
            window = self._windows[bucket, major] = _Window(now + rate.window_s, 0)
        return window


def refusal(retry_after_s: float, scope: str) -> Verdict:
    """A 429 of scope "user", "shared" or "global". Clients take one without `Via` for a ban by Cloudflare."""
    headers = {"Via": "1.1 sandbox", "Retry-After": str(math.ceil(retry_after_s)), "X-RateLimit-Scope": scope}
    if scope == "global":
        headers["X-RateLimit-Global"] = "true"
    return Verdict(headers, retry_after_s, overall=scope == "global")
