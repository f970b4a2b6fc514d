"""What went wrong with a provider's answer, whichever way it was told: a status, a body, an event, a broken stream.

In: reading bodies of any shape, the providers' codes and statuses as data, the words of messages, how long to wait. Not
in: what a user reads of it (services.orchestrator.presentation) and whether to try again (services.orchestrator).

Structured facts decide first (a code, then the status, then a type that only names a family), the words of a message
last, at word boundaries.
"""

from services.normalizer.errors.body import is_refusal
from services.normalizer.errors.provider_errors import (
    MAX_BODY_BYTES,
    MAX_CODE_CHARS,
    MAX_MESSAGE_CHARS,
    MAX_ORIGINAL_CHARS,
    event_error,
    http_error,
    stream_error,
)

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_CODE_CHARS",
    "MAX_MESSAGE_CHARS",
    "MAX_ORIGINAL_CHARS",
    "event_error",
    "http_error",
    "is_refusal",
    "stream_error",
]
