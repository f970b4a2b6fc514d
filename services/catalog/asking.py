"""Asking a provider whether it takes a key. A custom endpoint is reached through the guard for what users point at."""

import json

import httpx
from pydantic import SecretStr

from schemas.chunks import Dialect
from schemas.prompts import Placement
from services.catalog.owners import Owner, Person
from services.catalog.probing import Probe, Verdict, judge, key_headers, probe_for
from services.catalog.providers import PROVIDERS
from services.catalog.target import Target
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.refusals import FetchFailed
from services.runtime.fetching.urls import FetchPolicy

_ENDPOINTS: dict[Dialect, Placement] = {"anthropic": "x-api-key", "google": "x-goog-api-key"}


async def ask_provider(owner: Owner, target: Target, key: SecretStr | None) -> Verdict:
    """What the provider of the target says of the key."""
    probe = probe_for(target.provider, target.model.codename, target.base_url)
    if probe is None:
        return Verdict(
            "undecided", "the credentials lie on the machine that asks (Google's ADC), so there is no key to try"
        )
    placement = (
        _ENDPOINTS.get(target.dialect, "bearer")
        if target.provider == "custom"
        else PROVIDERS[target.provider].placement
    )
    headers = {"content-type": "application/json", **key_headers(placement, key)}
    content = None if probe.body is None else json.dumps(probe.body).encode()
    try:
        if target.provider == "custom":
            status = await _guarded(probe, headers, content, policy_for(owner))
        else:
            status = await _direct(probe, headers, content)
    except (FetchFailed, httpx.HTTPError) as error:
        detail = str(error) if isinstance(error, FetchFailed) else type(error).__name__
        return Verdict("undecided", f"there is no answer: {detail}")
    return judge(target.provider, status)


def policy_for(owner: Owner) -> FetchPolicy:
    """Where an endpoint may be: a person's on the internet alone, a server's also on this machine, as its operator says."""
    return FetchPolicy("production") if isinstance(owner, Person) else FetchPolicy("development")


async def _direct(probe: Probe, headers: dict[str, str], content: bytes | None) -> int:
    async with (
        httpx.AsyncClient(timeout=probe.total_s) as client,
        client.stream(probe.method, probe.url, headers=headers, content=content) as response,
    ):
        return response.status_code


async def _guarded(probe: Probe, headers: dict[str, str], content: bytes | None, policy: FetchPolicy) -> int:
    fetcher = Fetcher(policy)
    try:
        opened = fetcher.open(probe.method, probe.url, total_s=probe.total_s, headers=headers, content=content)
        async with opened as response:
            return response.status_code
    finally:
        await fetcher.aclose()
