"""Why a call is not made although its prompt is sound; each ends its generation with an error of its own code."""

from services.runtime.errors import OdradekError


class CallNotMade(OdradekError):
    """Base of them. `code` is the error's, `retryable` whether the same call may work later."""

    code = "call_not_made"
    retryable = False


class CredentialUnusable(CallNotMade):
    """The key is unknown, not set, or one that cannot be sent."""

    code = "configuration"


class CredentialUnavailable(CallNotMade):
    """Whoever gives out access tokens does not answer."""

    code = "credential_unavailable"
    retryable = True


class AddressForbidden(CallNotMade):
    """The call would go where it may not: inside the operator's network, or with a token to somebody else."""

    code = "address_forbidden"


class BlobMissing(CallNotMade):
    """A picture or video that the body refers to is not in the blob store, or is not what the prompt says it is."""

    code = "blob_missing"


class BlobUnavailable(CallNotMade):
    """The blob store cannot be reached."""

    code = "blob_store_unavailable"
    retryable = True


class BlobPlaceInvalid(CallNotMade):
    """A blob's place in the body is no string of it, or lies in another one's."""

    code = "blob_place_invalid"
