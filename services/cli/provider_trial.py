"""What `odradek provider test` does: each key is shown to its provider once, Vertex the credentials of this machine."""

from dataclasses import replace

import httpx
import typer
from pydantic import SecretStr

from services.catalog.asking import ask_provider, ask_with
from services.catalog.catalog import open_catalog
from services.catalog.keys import reveal, vertex_place
from services.catalog.overview import keys_of, probe_target
from services.catalog.owners import Owner
from services.catalog.probing import Verdict
from services.catalog.providers import vertex_base_url
from services.catalog.target import Target
from services.cli.catalog_arguments import is_endpoint, owner_of, provider_of
from services.cli.endpoint_places import check_place, policy_for
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.provider.failures import CredentialUnavailable, CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings


def try_keys(name: str, *, server: str | None, user: str | None) -> None:
    """Print what the provider says of each key; exits with 1 unless it takes all."""
    settings, owner, provider = load_settings(), owner_of(server, user), provider_of(name)
    found = run(settings, _verdicts(settings, owner, provider))
    for place, verdict in found:
        print(printable(f"{provider}, {place}: {verdict.words}"))
    if any(verdict.finding != "taken" for _, verdict in found):
        raise typer.Exit(1)


async def _verdicts(settings: Settings, owner: Owner, provider: str) -> list[tuple[str, Verdict]]:
    async with open_catalog(settings) as catalog:
        async with catalog.database.reading() as session:
            target = await probe_target(session, owner, provider)
            references = await keys_of(session, owner, provider)
        if is_endpoint(provider):
            await check_place(owner, target.base_url or "", settings)
        policy = policy_for(owner, target.base_url or "", settings)
        found: list[tuple[str, Verdict]] = []
        for number, reference in enumerate(references):
            key = await reveal(catalog, reference)
            place = "the main key" if number == 0 else f"key {number} of the pool"
            verdict = await (ask_vertex if provider == "vertex" else ask_provider)(target, key, policy)
            found.append((place, verdict))
        return found


async def ask_vertex(target: Target, key: SecretStr | None, policy: FetchPolicy) -> Verdict:
    """What Vertex says of this machine's application default credentials, in the project and location of `key`."""
    place = vertex_place("" if key is None else key.get_secret_value())
    if place is None:
        return Verdict("undecided", "no PROJECT::LOCATION is set up: add it anew by `odradek provider add vertex`")
    tokens = GoogleTokens(httpx.Client, where="on this machine")
    try:
        token = await tokens.token()
    except (CredentialUnusable, CredentialUnavailable) as error:
        finding = "refused" if isinstance(error, CredentialUnusable) else "undecided"
        remedy = error.remedy or "Try again later, and check the network of this machine."
        return Verdict(finding, f"Vertex was not asked, since {error}. {remedy}")
    finally:
        await tokens.aclose()
    return await ask_with(
        replace(target, base_url=target.base_url or vertex_base_url(*place)), dict(token.headers), policy
    )
