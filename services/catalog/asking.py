"""Asking a provider whether it takes a key. A custom endpoint is reached through the guard for what users point at."""

import json
from collections.abc import Mapping

import httpx
from pydantic import SecretStr

from schemas.chunks import Dialect
from schemas.prompts import Placement
from services.catalog.probing import Probe, Verdict, judge, key_headers, probe_for
from services.catalog.providers import PROVIDERS
from services.catalog.target import Target
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.refusals import FetchFailed
from services.runtime.fetching.urls import FetchPolicy

_ENDPOINTS: dict[Dialect, Placement] = {"anthropic": "x-api-key", "google": "x-goog-api-key"}


async def ask_provider(target: Target, key: SecretStr | None, policy: FetchPolicy) -> Verdict:
    """What the provider of the target says of the key; `policy` says where a custom endpoint may be."""
    placement = (
        _ENDPOINTS.get(target.dialect, "bearer")
        if target.provider == "custom"
        else PROVIDERS[target.provider].placement
    )
    return await ask_with(target, key_headers(placement, key), policy)


async def ask_with(target: Target, credential: Mapping[str, str], policy: FetchPolicy) -> Verdict:
    """What the provider of the target says of the credential, which stands in its headers."""
    probe = probe_for(target.provider, target.model.codename, target.base_url)
    headers = {"content-type": "application/json", **credential}
    content = None if probe.body is None else json.dumps(probe.body).encode()
    try:
        if target.provider == "custom":
            status = await _guarded(probe, headers, content, policy)
        else:
            status = await _direct(probe, headers, content)
    except (FetchFailed, httpx.HTTPError) as error:
        detail = f"{error}. {error.remedy}".strip() if isinstance(error, FetchFailed) else type(error).__name__
        return Verdict("undecided", f"there is no answer: {detail}")
    return judge(target.provider, status)


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
