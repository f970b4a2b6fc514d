"""What the doctor finds about the provider: whether there is a key, whether it is taken, whether the model is known.

The list of models costs nothing to ask for: https://platform.openai.com/docs/api-reference/models/list and
https://docs.anthropic.com/en/api/models-list.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import cast

import httpx

from schemas.prompts import CredentialRef
from services.cli.doctor_checks import Finding
from services.context.configured import CONFIGURED, Configured, base_url_of, placement_of, target_of
from services.context.habits.endpoint import request_url
from services.context.habits.table import HABITS, habits_of
from services.provider.credentials import Credentials
from services.provider.failures import CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_MOST_BYTES = 8 * 1024 * 1024


async def check_provider(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the provider of the dialect can be asked with the key and for the model that are set."""
    spec = CONFIGURED.get(settings.dialect)
    if spec is None:
        detail = f"no requests can be made in the dialect {settings.dialect!r}"
        yield Finding("provider", "FAIL", detail, f"set ODRADEK_DIALECT to one of {', '.join(CONFIGURED)}")
        return
    try:
        headers = await _headers(settings, spec)
    except CredentialUnusable as error:
        # No failure: the local provider of `odradek up` brings a key of its own.
        yield Finding("provider key", "warn", str(error), f"for a real provider: {error.remedy}")
        return
    try:
        status, body = await _list_models(models_url(settings), headers)
    except ConfigurationError as error:
        yield Finding("provider", "FAIL", str(error), error.remedy)
        return
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        detail = f"{_host(settings)} does not answer ({type(error).__name__})"
        yield Finding("provider", "FAIL", detail, "check ODRADEK_PROVIDER_URL and the network")
        return
    for finding in judge(settings, spec, status, body):
        yield finding


def models_url(settings: Settings) -> str:
    """Where the provider lists its models."""
    row = habits_of(target_of(settings, settings.model))
    base = base_url_of(settings).rstrip("/").removesuffix(row.path)
    return request_url(replace(row, path="/models"), base)


def judge(settings: Settings, spec: Configured, status: int, body: bytes) -> list[Finding]:
    """What an answer to the question for the models means."""
    host = _host(settings)
    match status:
        case 200:
            models = _ids(body)
        case 401 | 403:
            detail = f"{host} refuses the key (status {status})"
            return [Finding("provider key", "FAIL", detail, f"set {spec.key_setting} to a valid key of this provider")]
        case 404 | 405 | 501:
            return [Finding("provider", "warn", f"{host} answers, but lists no models, so key and model are unknown")]
        case 429:
            return [Finding("provider", "warn", f"{host} answers, but limits the rate (status 429)", "try again later")]
        case _:
            return [Finding("provider", "FAIL", f"{host} answers with status {status}", "try again later")]
    key = Finding("provider key", "ok", f"{host} accepts it" if _has_key(settings, spec) else f"{host} wants none")
    if models is None:
        return [key, Finding("provider model", "warn", f"{host} answers with no list of models that can be read")]
    if settings.model in models:
        return [key, Finding("provider model", "ok", f"{host} has {settings.model}")]
    detail = f"{settings.model} is not among the {len(models)} models that {host} lists"
    return [key, Finding("provider model", "warn", detail, f"set ODRADEK_MODEL, for example to {_some(models)}")]


def _some(models: frozenset[str]) -> str:
    return ", ".join(sorted(models)[:5]) or "one that this key may use"


def _has_key(settings: Settings, spec: Configured) -> bool:
    key = spec.key(settings)
    return key is not None and bool(key.get_secret_value().strip())


async def _headers(settings: Settings, spec: Configured) -> dict[str, str]:
    """The headers of a request; raises CredentialUnusable for a key that is missing or cannot be sent."""
    keyless = settings.provider_url is not None and not _has_key(settings, spec)
    placement = "none" if keyless else placement_of(settings)
    tokens = GoogleTokens(httpx.Client)
    credential = await Credentials(settings, tokens).find(CredentialRef(name=spec.credential, placement=placement))
    return {**dict(credential.headers), **HABITS[spec.provider, settings.dialect].headers}


def _host(settings: Settings) -> str:
    try:
        return httpx.URL(base_url_of(settings)).host or "the provider"
    except httpx.InvalidURL:
        return "the provider"


async def _list_models(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Status and body; a body beyond the bound counts as one that cannot be read."""
    body = bytearray()
    async with (
        httpx.AsyncClient(timeout=5.0) as client,
        client.stream("GET", url, params={"limit": "1000"}, headers=headers) as response,
    ):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MOST_BYTES:
                return response.status_code, b""
    return response.status_code, bytes(body)


def _ids(body: bytes) -> frozenset[str] | None:
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    data = cast(dict[str, object], content).get("data")
    if not isinstance(data, list):
        return None
    models = [cast(dict[str, object], item).get("id") for item in cast(list[object], data) if isinstance(item, dict)]
    return frozenset(model for model in models if isinstance(model, str))
