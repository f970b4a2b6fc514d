"""Which key of a pool comes next, and which errors send a key to rest. Reads no clock and no database."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from schemas.chunks import ProviderErrorType

Mark = Literal["rate_limit", "api_error"]

COOLDOWN_MS: dict[Mark, int] = {"rate_limit": 60_000, "api_error": 300_000}
"""How long a key rests after its last error."""

LEAST_POOL = 2
"""A pool with fewer rows than this does not rotate."""

MOST_KEYS_TRIED = 3
"""Keys that are tried for one model in a turn."""

_REQUESTS_FAULT = frozenset({"400", "404", "405", "406", "409", "411", "413", "415", "422"})
_NOT_ASKED = frozenset(
    {"connect_failed", "credential_unavailable", "address_forbidden", "blob_missing", "blob_store_unavailable",
     "blob_place_invalid", "cannot_assemble", "reset", "eof", "lost"}
)  # fmt: skip
"""Codes of our own for calls that no provider has refused, so that no key is to blame."""


@dataclass(frozen=True, slots=True)
class PooledKey:
    """One row of a pool; `is_main` stands for the provider's main key. `last_error_ms` is since 1970."""

    id: str
    is_main: bool = False
    enabled: bool = True
    usage_count: int = 0
    last_error: Mark | None = None
    last_error_ms: int | None = None

    def rests(self, now_ms: int) -> bool:
        """Whether its last error is too recent to try it again."""
        if self.last_error is None or self.last_error_ms is None:
            return False
        return now_ms < self.last_error_ms + COOLDOWN_MS[self.last_error]


def free_keys(pool: Iterable[PooledKey], now_ms: int) -> list[PooledKey]:
    """The keys that are enabled and rested, those that were used least first."""
    free = [key for key in pool if key.enabled and not key.rests(now_ms)]
    return sorted(free, key=lambda key: (key.usage_count, key.id))


def mark_for(error: ProviderErrorType, code: str) -> Mark | None:
    """How an error marks its key; None where the error says nothing about the key, as a refused request does not."""
    if error == "rate_limit":
        return "rate_limit"
    if code in ("401", "403"):
        return "api_error"
    return "api_error" if error == "api_error" and code not in _REQUESTS_FAULT | _NOT_ASKED else None
