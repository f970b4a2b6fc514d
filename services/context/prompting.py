"""From the neutral context to the ProviderRequest: which provider, which URL, which key, and what is given up."""

from dataclasses import replace
from urllib.parse import urlsplit

from schemas.attempts import AttemptFacts, Chosen
from schemas.generations import GenerationRequested
from schemas.prompts import CredentialRef, ProviderRequest, StreamDeadlines
from services.context.attempt_facts import facts_of
from services.context.context import NeutralContext
from services.context.dialects import DIALECTS
from services.context.native import DialectSpec, NativeRequest
from services.context.providers import provider_at
from services.context.rungs import given_up
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DEADLINES = StreamDeadlines()


def candidates(settings: Settings) -> tuple[Chosen, ...]:
    """The models and keys that there are: the settings' one. Raises ConfigurationError, whose remedy names the setting."""
    spec = _spec(settings)
    host = _host(settings.provider_url or spec.base_url)
    return (Chosen(provider=provider_at(host), model=settings.model, credential=_credential(settings, spec)),)


def prompt(
    settings: Settings, request: GenerationRequested, context: NeutralContext, chosen: Chosen
) -> ProviderRequest:
    """The request to a provider; raises ConfigurationError, whose remedy names the setting to set."""
    spec = _spec(settings)
    base_url = settings.provider_url or spec.base_url
    host = _host(base_url)
    native = spec.build(replace(context, model=chosen.model), base_url)
    plan = request.attempt
    headers = native.headers
    if host in _LOOPBACK:
        # A server on this machine may show whose call it got; nobody else is told.
        headers = headers | {"x-odradek-turn": request.turn, "x-odradek-generation": str(request.generation)}
    return ProviderRequest(
        channel_id=request.channel_id,
        guild_id=request.guild_id,
        turn=request.turn,
        generation=request.generation,
        caused_by=request.message_id,
        dialect=settings.dialect,
        provider=chosen.provider,
        model=chosen.model,
        url=native.url,
        headers=headers,
        body=native.body if plan is None else given_up(native.body, plan.rung),
        credential=CredentialRef(name=chosen.credential, placement=spec.placement if chosen.credential else "none"),
        deadlines=_DEADLINES.model_copy(update={"total_ms": min(_DEADLINES.total_ms, request.deadline_ms)}),
        rules_version=request.rules_version,
        attempt=None if plan is None else _facts(settings, chosen, native),
    )


def _facts(settings: Settings, chosen: Chosen, native: NativeRequest) -> AttemptFacts:
    # Anthropic wants the one that is mandatory; other servers have a limit of their own.
    mandatory = ("max_tokens",) if settings.dialect == "anthropic" else ()
    return facts_of(chosen, settings.dialect, native.body, mandatory=mandatory, added=("stream_options",))


def _spec(settings: Settings) -> DialectSpec:
    spec = DIALECTS.get(settings.dialect)
    if spec is None:
        raise ConfigurationError(
            f"no requests can be made in the dialect {settings.dialect!r} yet",
            remedy=f"Set ODRADEK_DIALECT to one of {', '.join(DIALECTS)}.",
        )
    return spec


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


def _credential(settings: Settings, spec: DialectSpec) -> str:
    """The name of the key, or nothing for a server that wants none."""
    key = spec.key(settings)
    if key is not None and key.get_secret_value().strip():
        return spec.credential
    if not settings.provider_url:
        raise ConfigurationError(
            f"there is no key for the dialect {settings.dialect!r}",
            remedy=f"Set {spec.key_setting}, or ODRADEK_PROVIDER_URL for a server that wants none.",
        )
    return ""
