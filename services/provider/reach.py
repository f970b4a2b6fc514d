"""Where calls may go: a user's endpoints where the operator allows it, with a token of Google's to Google only."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from schemas.prompts import ProviderRequest
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
        """Which addresses may be called; None: any, for a provider that no user named."""
        if request.provider.partition(":")[0] != "custom" or self.is_own(request.url):
            return None
        return FetchPolicy("own_network" if self.private_endpoints else "production")

    def check_token(self, url: str) -> None:
        """Whether an access token of Google's may be sent there; raises AddressForbidden."""
        scheme, host, _ = _origin(url) or ("", "", None)
        if not (scheme == "https" and host.endswith(_GOOGLE)) and not self.is_own(url):
            raise AddressForbidden("Google's access token is not sent to another host than Google's")

    def is_own(self, url: str) -> bool:
        """Whether the URL lies at the origin of the settings' provider."""
        return self.own is not None and _origin(url) == self.own


def _origin(url: str) -> Origin | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if port is None:
        port = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port
