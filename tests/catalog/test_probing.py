"""Whether a key is taken: the request for each provider, over real HTTP, and what each status means."""

from collections.abc import AsyncIterator
from typing import get_args

import pytest
from aiohttp import web
from inline_snapshot import snapshot
from pydantic import SecretStr

from services.catalog.asking import ask_provider
from services.catalog.probing import judge, probe_for
from services.catalog.providers import PROVIDERS, vertex_base_url
from services.catalog.target import ModelFacts, ProviderName, Target
from services.runtime.fetching.urls import FetchPolicy

KEY = SecretStr("sk-very-secret-0123456789")


def test_each_provider_is_asked_the_cheapest_question_that_it_has() -> None:
    probes = {
        name: probe_for(name, "m", {"custom": "http://h/v1", "vertex": vertex_base_url("p", "eu")}.get(name))
        for name in get_args(ProviderName)
    }

    asked = {name: f"{probe.method} {probe.url}" for name, probe in probes.items()}
    assert asked == snapshot(
        {
            "openai": "GET https://api.openai.com/v1/models",
            "google": "GET https://generativelanguage.googleapis.com/v1beta/models?pageSize=1",
            "vertex": "POST https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m:countTokens",
            "vertexexpress": "POST https://aiplatform.googleapis.com/v1/publishers/google/models/m:countTokens",
            "openrouter": "GET https://openrouter.ai/api/v1/auth/key",
            "anthropic": "POST https://api.anthropic.com/v1/messages",
            "deepseek": "POST https://api.deepseek.com/chat/completions",
            "zai": "POST https://api.z.ai/api/paas/v4/chat/completions",
            "zaicoding": "POST https://api.z.ai/api/coding/paas/v4/chat/completions",
            "nvidia": "POST https://integrate.api.nvidia.com/v1/chat/completions",
            "novelai": "GET https://api.novelai.net/user/information",
            "custom": "GET http://h/v1/models",
        }
    )
    assert {name for name, probe in probes.items() if probe.body and probe.body.get("max_tokens") == 1} == {
        "anthropic",
        "deepseek",
        "zai",
        "zaicoding",
        "nvidia",
    }


@pytest.mark.parametrize(
    ("provider", "status", "finding"),
    [
        ("openai", 200, "taken"),
        ("openai", 401, "refused"),
        ("openai", 403, "refused"),
        ("openai", 429, "taken"),
        ("openai", 404, "undecided"),
        ("openai", 500, "undecided"),
        ("deepseek", 402, "taken"),
        ("google", 400, "refused"),
        ("anthropic", 400, "taken"),
        ("anthropic", 404, "taken"),
        ("anthropic", 401, "refused"),
        ("anthropic", 529, "undecided"),
        ("custom", 404, "taken"),
        ("custom", 401, "refused"),
        ("custom", 502, "undecided"),
        ("vertex", 200, "taken"),
        ("vertex", 403, "refused"),
        ("vertex", 404, "undecided"),
        ("vertex", 429, "taken"),
    ],
)
def test_what_a_status_says_of_a_key(provider: ProviderName, status: int, finding: str) -> None:
    assert judge(provider, status).finding == finding


@pytest.fixture
async def server() -> AsyncIterator[tuple[str, list[web.BaseRequest]]]:
    """A server that answers everything with 200, and what it was asked."""
    asked: list[web.BaseRequest] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request)
        return web.Response(text="{}")

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server
    yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}", asked
    await runner.cleanup()


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY.get_secret_value()}"),
        ("anthropic", "x-api-key", KEY.get_secret_value()),
        ("google", "x-goog-api-key", KEY.get_secret_value()),
        ("novelai", "authorization", f"Bearer {KEY.get_secret_value()}"),
    ],
)
async def test_the_key_is_shown_where_the_provider_wants_it(
    server: tuple[str, list[web.BaseRequest]], provider: ProviderName, header: str, value: str
) -> None:
    url, asked = server
    target = Target(provider, PROVIDERS[provider].dialect, ModelFacts("m"), url)

    assert (await ask_provider(target, KEY, FetchPolicy())).finding == "taken"
    assert asked[0].headers[header] == value


@pytest.mark.parametrize(
    ("policy", "url"),
    [
        (FetchPolicy(), "https://127.0.0.1/v1"),
        (FetchPolicy(), "https://10.0.0.1/v1"),
        (FetchPolicy(), "http://localhost:8000/v1"),
        (FetchPolicy("own_network"), "http://169.254.169.254/v1"),
        (FetchPolicy("own_network"), "https://169.254.169.254/v1"),
    ],
)
async def test_an_endpoint_inside_the_operators_network_is_not_asked(policy: FetchPolicy, url: str) -> None:
    target = Target("custom", "openai-chat", ModelFacts("m"), url)

    verdict = await ask_provider(target, KEY, policy)

    assert verdict.finding == "undecided"
    assert "may not be fetched" in verdict.words
    assert verdict.words.endswith(("Use https.", "Use an address on the public internet."))
    assert KEY.get_secret_value() not in verdict.words


async def test_a_provider_that_is_away_leaves_it_undecided() -> None:
    away = Target("openai", "openai-responses", ModelFacts("m"), "http://127.0.0.1:1/v1")

    assert (await ask_provider(away, KEY, FetchPolicy())).finding == "undecided"
