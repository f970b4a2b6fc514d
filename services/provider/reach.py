"""Where calls may go: a custom endpoint where its owner may have one, with a token of Google's to Google only."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from schemas.attempts import CredentialSource
from schemas.prompts import ProviderRequest
from services.catalog.keys import CredentialReference
from services.provider.failures import AddressForbidden
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings

Origin = tuple[str, str, int | None]
_GOOGLE = ".googleapis.com"


@dataclass(frozen=True, slots=True)
class Reach:
    """What the operator allows. `own` is the origin of the settings' provider, which is trusted wherever it is."""

    private_endpoints: bool = False
    own: Origin | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Reach":
        """As the settings say."""
        return cls(settings.private_endpoints, _origin(settings.provider_url) if settings.provider_url else None)

    def policy_of(self, request: ProviderRequest) -> FetchPolicy | None:
        """Which addresses may be called; None: any, for a provider that no user named.

        A person's endpoint lies on the public internet, whatever the operator allows for servers.
        """
        if request.provider.partition(":")[0] != "custom":
            return None
        source = _source(request)
        if source != "personal" and self.is_own(request.url):
            return None
        return FetchPolicy("own_network" if source == "server" and self.private_endpoints else "production")

    def check_token(self, url: str) -> None:
        """Whether an access token of Google's may be sent there; raises AddressForbidden."""
        scheme, host, _ = _origin(url) or ("", "", None)
        if not (scheme == "https" and host.endswith(_GOOGLE)) and not self.is_own(url):
            raise AddressForbidden("Google's access token is not sent to another host than Google's")

    def is_own(self, url: str) -> bool:
        """Whether the URL lies at the origin of the settings' provider."""
        return self.own is not None and _origin(url) == self.own


def _source(request: ProviderRequest) -> CredentialSource | None:
    """Whose endpoint it is; None where the request does not tell: rules of before version 3, and no key of the catalog."""
    if request.attempt is not None:
        return request.attempt.chosen.source
    reference = CredentialReference.parse(request.credential.name)
    if reference is None:
        return None
    return "personal" if reference.kind == "personal" else "server"


def _origin(url: str) -> Origin | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if port is None:
        port = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port
