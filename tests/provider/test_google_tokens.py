"""Access tokens from google-auth itself, with a service account's key made here and a token endpoint on this machine."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from schemas.chunks import ProviderError
from schemas.inbox import GenerationFailed
from schemas.prompts import CredentialRef
from schemas.registry import decode
from services.provider.failures import CredentialUnavailable, CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.sandbox.provider.script import Answer
from tests.provider.token_endpoint import TokenEndpoint, google_account

PLACE = "my-project::europe-west4"
ADC = CredentialRef(name="vertex", placement="google-adc")


@pytest.fixture
async def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TokenEndpoint]:
    async with google_account(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
async def tokens() -> AsyncIterator[GoogleTokens]:
    made = GoogleTokens(httpx.Client)
    yield made
    await made.aclose()


async def test_a_token_is_asked_for_once_and_kept(endpoint: TokenEndpoint, tokens: GoogleTokens) -> None:
    first = await asyncio.gather(*(tokens.token() for _ in range(20)))
    again = await tokens.token()
    assert {one.secret for one in (*first, again)} == {"ya29.token-number-1"}
    assert again.headers == (("authorization", "Bearer ya29.token-number-1"),)
    assert "token-number" not in repr(again)
    (asked,) = endpoint.asked
    assert asked["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"


async def test_a_token_that_is_over_is_replaced_before_it_is_used(
    endpoint: TokenEndpoint, tokens: GoogleTokens
) -> None:
    endpoint.lasts_s = 0
    await tokens.token()
    endpoint.lasts_s = 3600
    assert (await tokens.token()).secret == "ya29.token-number-2"


async def test_a_token_that_is_soon_over_serves_while_the_next_is_fetched(
    endpoint: TokenEndpoint, tokens: GoogleTokens
) -> None:
    endpoint.lasts_s = 60
    await tokens.token()
    endpoint.arrived.clear()
    endpoint.lasts_s = 3600
    endpoint.held.clear()
    assert (await tokens.token()).secret == "ya29.token-number-1"
    await endpoint.arrived.wait()
    assert (await tokens.token()).secret == "ya29.token-number-1"
    endpoint.held.set()
    assert tokens._renewal is not None
    await tokens._renewal
    assert (await tokens.token()).secret == "ya29.token-number-2"
    assert len(endpoint.asked) == 2


async def test_an_endpoint_that_hangs_keeps_nobody_longer_than_the_deadline_and_not_the_loop(
    endpoint: TokenEndpoint,
) -> None:
    endpoint.held.clear()
    tokens = GoogleTokens(httpx.Client, within_s=3.0)
    asking = asyncio.create_task(tokens.token())
    await endpoint.arrived.wait()  # this loop answers it, so it is free meanwhile
    with pytest.raises(CredentialUnavailable, match=r"within 3 s") as error:
        await asking
    assert error.value.retryable
    endpoint.held.set()
    await tokens.aclose()


async def test_a_refused_account_is_told_without_what_the_endpoint_said(
    endpoint: TokenEndpoint, tokens: GoogleTokens
) -> None:
    endpoint.answer = web.json_response({"error": "invalid_grant", "error_description": "secret words"}, status=400)
    with pytest.raises(CredentialUnusable, match="gives no access token") as error:
        await tokens.token()
    assert "secret words" not in f"{error.value!r} {error.value.remedy}"


async def test_an_endpoint_that_cannot_be_reached_is_worth_another_try(
    endpoint: TokenEndpoint, tokens: GoogleTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda _: None)
    endpoint.answer = web.json_response({"error": "internal_failure"}, status=503)
    with pytest.raises(CredentialUnavailable):
        await tokens.token()
    endpoint.answer = None
    assert (await tokens.token()).secret.startswith("ya29.")


async def test_without_default_credentials_the_remedy_says_what_to_set(
    tokens: GoogleTokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nothing.json"))
    with pytest.raises(CredentialUnusable) as error:
        await tokens.token()
    assert "GOOGLE_APPLICATION_CREDENTIALS" in error.value.remedy


async def test_a_call_to_vertex_goes_to_the_place_and_carries_the_token_which_an_echo_does_not_show(
    endpoint: TokenEndpoint, make_bench: Callable[..., Any]
) -> None:
    bench = await make_bench(vertex=PLACE, own=True)
    endpoint.token = bench.key
    bench.play(Answer(403, body=f"denied: {bench.key}".encode()))
    path = (
        "v1/projects/{project}/locations/{location}/publishers/google/models/sandbox-echo:streamGenerateContent?alt=sse"
    )
    body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    request = bench.request(dialect="google", credential=ADC, url=f"{bench.url}/{path}", body=body)
    for generation in (1, 2):
        await bench.run(request.model_copy(update={"generation": generation}))
    assert len(endpoint.asked) == 1
    assert b"denied: " + b"*" * len(bench.key) in bench.body()
    assert [end.http_status for end in bench.ends()] == [403, 200]
    assert bench.key.encode() not in bench.body()


async def test_a_stop_reaches_a_call_that_waits_for_its_token(
    endpoint: TokenEndpoint, make_bench: Callable[..., Any]
) -> None:
    bench = await make_bench(vertex=PLACE)
    endpoint.held.clear()
    running = bench.start(bench.request(credential=ADC))
    await endpoint.arrived.wait()
    await bench.stop_turn()
    await running
    assert bench.end().ending == "stopped"
    assert bench.sandbox.calls == ()


async def test_no_token_ends_the_generation_with_an_error_that_may_pass(
    endpoint: TokenEndpoint, make_bench: Callable[..., Any]
) -> None:
    bench = await make_bench(vertex=PLACE, token_within_s=0.2)
    endpoint.held.clear()
    await bench.run(bench.request(credential=ADC))
    (record,) = bench.log.topics["inbox"]
    _, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    assert isinstance(failed.error, ProviderError)
    assert (failed.error.code, failed.error.retryable) == ("credential_unavailable", True)


async def test_a_token_goes_to_google_alone(endpoint: TokenEndpoint, make_bench: Callable[..., Any]) -> None:
    bench = await make_bench(vertex=PLACE)
    await bench.run(bench.request(credential=ADC, url=f"{bench.url}/v1/models/x:streamGenerateContent"))
    (record,) = bench.log.topics["inbox"]
    _, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    assert failed.error.code == "address_forbidden"
    assert bench.sandbox.calls == ()
