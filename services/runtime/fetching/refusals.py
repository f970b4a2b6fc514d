"""Why a fetch failed: one error a reason. No message holds an address, a URL or bytes, since users wrote them."""

from typing import Literal

from services.runtime.errors import OdradekError

RefusalCode = Literal[
    "INVALID_FORMAT",
    "INVALID_PROTOCOL",
    "REMOTE_HTTP_FORBIDDEN",
    "PRODUCTION_HTTPS_REQUIRED",
    "PRODUCTION_LOCALHOST_FORBIDDEN",
    "DNS_RESOLUTION_FAILED",
    "PRODUCTION_BLOCKED_ADDRESS",
]
"""Why a URL is not fetched. Metadata and link-local addresses are PRODUCTION_BLOCKED_ADDRESS in development too."""

FailureKind = Literal["refused", "size_exceeded", "timeout", "network_error", "invalid_response"]


class FetchFailed(OdradekError):
    """Base of the reasons. `status` is the HTTP status of the last answer, where there was one."""

    kind: FailureKind

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class FetchRefused(FetchFailed):
    """The URL, or an address of its host, may not be fetched; nothing was sent there."""

    kind = "refused"

    def __init__(self, code: RefusalCode) -> None:
        super().__init__(f"the address may not be fetched: {code}")
        self.code: RefusalCode = code


class SizeExceeded(FetchFailed):
    """The bytes are more than allowed, as known before, by the content-length, or as they came."""

    kind = "size_exceeded"


class TimedOut(FetchFailed):
    """The fetch as a whole, with all redirects, took longer than allowed."""

    kind = "timeout"


class NetworkFailed(FetchFailed):
    """No connection came about, or it broke."""

    kind = "network_error"


class InvalidResponse(FetchFailed):
    """The server answered, but not with the thing: another status than 200, too many redirects, a content coding."""

    kind = "invalid_response"
