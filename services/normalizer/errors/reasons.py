"""Why a request failed, finer than the type of a ProviderError, and what each reason means for type, retry and advice.

One error has one reason, so the two credit classes exclude each other: an exhausted balance needs a top-up, while a
request beyond what is left can be made smaller.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.chunks import ErrorClass, ProviderErrorType

Reason = Literal[
    "balance",
    "affordability",
    "context",
    "model",
    "plan",
    "content",
    "key",
    "rate_limit",
    "overloaded",
    "timeout",
    "server",
    "request",
]
"""In the order in which they count where an error names several.

balance: nothing can be spent, whatever the request's size. affordability: the request costs more than is left. context:
it is longer than may be sent. model: the model is unknown, gone or not served. plan: the account's plan does not hold
the model. content: the provider refused what the request or the reply says. key: the key is wrong or may not do this.
server: the provider failed. request: it is refused for any other reason, and will be again.
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reason amounts to. `advice`: the message class that the user's tips follow."""

    type: ProviderErrorType
    retryable: bool
    advice: ErrorClass | None = None


MEANINGS: Mapping[Reason, Meaning] = {
    "balance": Meaning("api_error", retryable=False, advice="exhausted_balance"),
    "affordability": Meaning("api_error", retryable=False, advice="credit_affordability"),
    "context": Meaning("api_error", retryable=False, advice="context_length"),
    "model": Meaning("model_error", retryable=False, advice="model_error"),
    "plan": Meaning("api_error", retryable=False, advice="model_error"),
    "content": Meaning("content_blocked", retryable=False),
    "key": Meaning("api_error", retryable=False, advice="key_access"),
    "rate_limit": Meaning("rate_limit", retryable=True),
    "overloaded": Meaning("provider_overloaded", retryable=True),
    "timeout": Meaning("timeout", retryable=True),
    "server": Meaning("api_error", retryable=True),
    "request": Meaning("api_error", retryable=False),
}

RANK: Mapping[Reason, int] = {reason: rank for rank, reason in enumerate(MEANINGS)}

PASSING: frozenset[Reason] = frozenset({"rate_limit", "overloaded", "timeout", "server"})
"""Reasons that may be gone at the next try."""
