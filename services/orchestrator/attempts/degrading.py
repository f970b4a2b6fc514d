"""Whether a refusal that names nothing may be one of something in the request, so that giving up parts of it helps."""

import re

from schemas.attempts import AttemptFacts, Degradable
from schemas.chunks import ProviderError

_SAYS_NOTHING = re.compile(
    r"(?:http |error |status |code )*(?:500)?[\s:,-]*(?:internal |unknown |unexpected )*(?:server )?(?:error|failure)?\W*",
    re.IGNORECASE,
)
_NO_ENDPOINTS = re.compile(r"\bno endpoints found\b", re.IGNORECASE)


def degrades(error: ProviderError, status: int | None, facts: AttemptFacts) -> bool:
    """Whether the ladder is for this refusal of this request."""
    kind = _kind(error, status)
    return kind is not None and kind in facts.degrades


def status_of(error: ProviderError, http_status: int | None) -> int | None:
    """The status of a refusal: of the answer, or the one that an error inside a stream names as its code."""
    if http_status is not None and http_status >= 300:
        return http_status
    return int(error.code) if re.fullmatch(r"[345]\d\d", error.code) else None


def _kind(error: ProviderError, status: int | None) -> Degradable | None:
    if status == 502:
        return "bad_gateway"
    if status == 404 and _NO_ENDPOINTS.search(error.message):
        # OpenRouter: no upstream takes the model together with these parameters.
        return "bad_request"
    if error.classifiers:
        return None
    if status in (400, 422) and error.type == "api_error":
        return "bad_request"
    if status == 500 and error.type in ("api_error", "provider_overloaded") and _SAYS_NOTHING.fullmatch(error.message):
        return "opaque_failure"
    return None
