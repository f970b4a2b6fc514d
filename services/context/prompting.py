"""From the neutral context to the ProviderRequest: which provider, which URL, which key, and what is given up."""

from urllib.parse import urlsplit

from schemas.context import NeutralContext
from schemas.generations import GenerationRequested
from schemas.prompts import ContextRead, CredentialRef, ProviderRequest, StreamDeadlines
from services.context.attempt_facts import facts_of
from services.context.blob_places import take_out
from services.context.models import Route
from services.context.render import render
from services.context.rungs import given_up

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DEADLINES = StreamDeadlines()


def prompt(request: GenerationRequested, context: NeutralContext, route: Route, read: ContextRead) -> ProviderRequest:
    """The request to a provider; raises CannotAssemble.

    The media of `context` are resolved; `read` is what it was made of.
    """
    chosen, dialect = route.chosen, route.target.dialect
    made = render(context, route.target)
    plan = request.attempt
    headers = made.headers
    if urlsplit(made.url).hostname in _LOOPBACK:
        # A server on this machine may show whose call it got; nobody else is told.
        headers = headers | {"x-odradek-turn": request.turn, "x-odradek-generation": str(request.generation)}
    body, blobs = take_out(made.body if plan is None else given_up(made.body, plan.rung))
    return ProviderRequest(
        channel_id=request.channel_id,
        guild_id=request.guild_id,
        turn=request.turn,
        generation=request.generation,
        caused_by=request.message_id,
        dialect=dialect,
        provider=chosen.provider,
        model=chosen.model,
        url=made.url,
        headers=headers,
        body=body,
        blobs=blobs,
        credential=CredentialRef(name=chosen.credential, placement=route.placement if chosen.credential else "none"),
        verbatim_tools=made.known_tools,
        deadlines=_DEADLINES.model_copy(update={"total_ms": min(_DEADLINES.total_ms, request.deadline_ms)}),
        rules_version=request.rules_version,
        attempt=None
        if plan is None
        else facts_of(chosen, dialect, made.body, mandatory=made.mandatory, added=made.added),
        read=read,
    )
