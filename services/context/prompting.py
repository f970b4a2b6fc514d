"""From the neutral context to the ProviderRequest: which provider, which URL, which key, and what is given up."""

from schemas.attempts import Chosen
from schemas.context import NeutralContext
from schemas.generations import GenerationRequested
from schemas.prompts import ContextRead, CredentialRef, ProviderRequest, StreamDeadlines
from services.context.attempt_facts import facts_of
from services.context.blob_places import take_out
from services.context.configured import configured, host_of, placement_of, target_of
from services.context.providers import provider_at
from services.context.render import render
from services.context.rungs import given_up
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DEADLINES = StreamDeadlines()


def candidates(settings: Settings) -> tuple[Chosen, ...]:
    """The models and keys that there are: the settings' one. Raises ConfigurationError, whose remedy names the setting."""
    host = host_of(settings)
    return (Chosen(provider=provider_at(host), model=settings.model, credential=_credential(settings)),)


def prompt(
    settings: Settings, request: GenerationRequested, context: NeutralContext, chosen: Chosen, read: ContextRead
) -> ProviderRequest:
    """The request to a provider; raises ConfigurationError, whose remedy names the setting to set, or CannotAssemble.

    The media of `context` are resolved; `read` is what it was made of.
    """
    made = render(context, target_of(settings, chosen.model))
    plan = request.attempt
    headers = made.headers
    if host_of(settings) in _LOOPBACK:
        # A server on this machine may show whose call it got; nobody else is told.
        headers = headers | {"x-odradek-turn": request.turn, "x-odradek-generation": str(request.generation)}
    body, blobs = take_out(made.body if plan is None else given_up(made.body, plan.rung))
    facts = facts_of(chosen, settings.dialect, made.body, mandatory=made.mandatory, added=made.added)
    return ProviderRequest(
        channel_id=request.channel_id,
        guild_id=request.guild_id,
        turn=request.turn,
        generation=request.generation,
        caused_by=request.message_id,
        dialect=settings.dialect,
        provider=chosen.provider,
        model=chosen.model,
        url=made.url,
        headers=headers,
        body=body,
        blobs=blobs,
        credential=CredentialRef(
            name=chosen.credential, placement=placement_of(settings) if chosen.credential else "none"
        ),
        deadlines=_DEADLINES.model_copy(update={"total_ms": min(_DEADLINES.total_ms, request.deadline_ms)}),
        rules_version=request.rules_version,
        attempt=None if plan is None else facts,
        read=read,
    )


def _credential(settings: Settings) -> str:
    """The name of the key, or nothing for a server that wants none."""
    spec = configured(settings)
    key = spec.key(settings)
    if key is not None and key.get_secret_value().strip():
        return spec.credential
    if not settings.provider_url:
        raise ConfigurationError(
            f"there is no key for the dialect {settings.dialect!r}",
            remedy=f"Set {spec.key_setting}, or ODRADEK_PROVIDER_URL for a server that wants none.",
        )
    return ""
