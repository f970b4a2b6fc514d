"""From the neutral context to the ProviderRequest: which provider, which URL, which key."""

from urllib.parse import urlsplit

from schemas.generations import GenerationRequested
from schemas.prompts import CredentialRef, ProviderRequest, StreamDeadlines
from services.context.context import NeutralContext
from services.context.dialects import DIALECTS
from services.context.native import DialectSpec
from services.context.providers import provider_at
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DEADLINES = StreamDeadlines()


def prompt(settings: Settings, request: GenerationRequested, context: NeutralContext) -> ProviderRequest:
    """The request to a provider; raises ConfigurationError, whose remedy names the setting to set."""
    spec = DIALECTS.get(settings.dialect)
    if spec is None:
        raise ConfigurationError(
            f"no requests can be made in the dialect {settings.dialect!r} yet",
            remedy=f"Set ODRADEK_DIALECT to one of {', '.join(DIALECTS)}.",
        )
    credential = _credential(settings, spec)
    base_url = settings.provider_url or spec.base_url
    host = _host(base_url)
    native = spec.build(context, base_url)
    headers = native.headers
    if host in _LOOPBACK:
        # A server on this machine may show whose call it got; nobody else is told.
        headers = headers | {"x-odradek-turn": request.turn, "x-odradek-generation": str(request.generation)}
    return ProviderRequest(
        channel_id=request.channel_id,
        turn=request.turn,
        generation=request.generation,
        caused_by=request.message_id,
        dialect=settings.dialect,
        provider=provider_at(host),
        model=context.model,
        url=native.url,
        headers=headers,
        body=native.body,
        credential=credential,
        deadlines=_DEADLINES.model_copy(update={"total_ms": min(_DEADLINES.total_ms, request.deadline_ms)}),
        rules_version=request.rules_version,
    )


def _host(base_url: str) -> str:
    try:
        address = urlsplit(base_url)
    except ValueError:
        address = None
    if address is None or address.scheme not in ("http", "https") or not address.hostname:
        raise ConfigurationError(
            "the provider's URL is not one that can be called",
            remedy="Set ODRADEK_PROVIDER_URL to an address that begins with https:// or http://.",
        )
    return address.hostname


def _credential(settings: Settings, spec: DialectSpec) -> CredentialRef:
    key = spec.key(settings)
    if key is not None and key.get_secret_value().strip():
        return CredentialRef(name=spec.credential, placement=spec.placement)
    if not settings.provider_url:
        raise ConfigurationError(
            f"there is no key for the dialect {settings.dialect!r}",
            remedy=f"Set {spec.key_setting}, or ODRADEK_PROVIDER_URL for a server that wants none.",
        )
    return CredentialRef(name="", placement="none")
