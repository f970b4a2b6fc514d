"""Why a fetch failed: one error a reason. No message holds an address, a URL or bytes, since users wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Told:
    """What a person reads of a refusal: what is wrong with the address, as the end of a sentence, and what to do."""

    reason: str
    remedy: str


REFUSALS: Mapping[RefusalCode, Told] = {
    "INVALID_FORMAT": Told(
        "it is malformed, or its port is one where no web server listens",
        "Give a plain URL such as https://llm.example/v1, without a user name and without blanks.",
    ),
    "INVALID_PROTOCOL": Told("it is neither https nor http", "Give an https URL."),
    "REMOTE_HTTP_FORBIDDEN": Told("plain http is for this machine alone", "Use https."),
    "PRODUCTION_HTTPS_REQUIRED": Told("only https is allowed", "Use https."),
    "PRODUCTION_LOCALHOST_FORBIDDEN": Told("its name is this machine's", "Use a name on the public internet."),
    "DNS_RESOLUTION_FAILED": Told(
        "its name leads to no address", "Check how the name is spelt, and whether this machine can look names up."
    ),
    "PRODUCTION_BLOCKED_ADDRESS": Told(
        "it lies in a private network, or where a cloud keeps its metadata", "Use an address on the public internet."
    ),
}
"""What each code means to a person."""

FailureKind = Literal["refused", "size_exceeded", "timeout", "network_error", "invalid_response"]


class FetchFailed(OdradekError):
    """Base of the reasons. `status` is the HTTP status of the last answer, where there was one."""

    kind: FailureKind

    def __init__(self, message: str, *, remedy: str = "", status: int | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


class FetchRefused(FetchFailed):
    """The URL, or an address of its host, may not be fetched; nothing was sent there."""

    kind = "refused"

    def __init__(self, code: RefusalCode) -> None:
        told = REFUSALS[code]
        super().__init__(f"the address may not be fetched: {told.reason} ({code})", remedy=told.remedy)
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
