"""`odradek provider test vertex`: what is tried are this machine's credentials, and each end says what to do."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from services.catalog.target import ModelFacts, Target
from services.cli.provider_trial import ask_vertex
from services.runtime.fetching.urls import FetchPolicy
from tests.cli.conftest import Command

PLACE = SecretStr("my-project::europe-west4")


@dataclass
class Google:
    """A token endpoint and a Vertex, which answer with these statuses; `seen` has the authorizations at Vertex."""

    base: str = ""
    token_status: int = 200
    vertex_status: int = 200
    seen: list[str | None] = field(default_factory=list[str | None])

    async def token(self, _: web.Request) -> web.Response:
        if self.token_status != 200:
            return web.json_response({"error": "invalid_grant"}, status=self.token_status)
        return web.json_response({"access_token": "ya29.a-token", "expires_in": 3600, "token_type": "Bearer"})

    async def count(self, request: web.Request) -> web.Response:
        self.seen.append(request.headers.get("authorization"))
        return web.json_response({"totalTokens": 1}, status=self.vertex_status)


@pytest.fixture
async def google(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    """Google, and application default credentials that name it."""
    made = Google()
    app = web.Application()
    app.router.add_post("/token", made.token)
    app.router.add_post("/models/m:countTokens", made.count)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "private_key": private.decode(),
        "client_email": "odradek@my-project.iam.gserviceaccount.com",
        "token_uri": f"{made.base}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    yield made
    await runner.cleanup()


@pytest.mark.parametrize(
    ("statuses", "finding", "words"),
    [
        ((200, 200), "taken", "is taken by the project and location"),
        ((200, 403), "refused", "give it the role Vertex AI User"),
        ((200, 404), "undecided", "check PROJECT::LOCATION"),
        ((400, 200), "refused", "Vertex was not asked, since Google gives no access token"),
        ((503, 200), "undecided", "Try again later"),
    ],
)
async def test_this_machines_credentials_are_tried_by_a_request_that_costs_nothing(
    google: Google, statuses: tuple[int, int], finding: str, words: str
) -> None:
    google.token_status, google.vertex_status = statuses
    target = Target("vertex", "google", ModelFacts("m"), google.base)
    verdict = await ask_vertex(target, PLACE, FetchPolicy())
    assert (verdict.finding, google.seen) == (finding, ["Bearer ya29.a-token"] if statuses[0] == 200 else [])
    assert words in verdict.words
    assert "ya29" not in verdict.words


@pytest.mark.parametrize("missing", [True, False])
async def test_the_command_says_what_is_wrong_with_the_credentials(
    command: Command, google: Google, tmp_path: Path, missing: bool
) -> None:
    google.token_status = 401
    added = await asyncio.to_thread(
        command, "provider", "add", "vertex", "--server", "1", stdin=PLACE.get_secret_value()
    )
    assert added.returncode == 0, added.stderr
    file = tmp_path / ("nothing.json" if missing else "account.json")
    done = await asyncio.to_thread(
        command, "provider", "test", "vertex", "--server", "1", GOOGLE_APPLICATION_CREDENTIALS=str(file)
    )
    assert done.returncode == 1
    assert done.stdout.startswith("vertex, the main key: Vertex was not asked, since ")
    assert ("Set GOOGLE_APPLICATION_CREDENTIALS to a key file, on this machine" in done.stdout) is missing
    assert done.stderr == ""
    listed = await asyncio.to_thread(command, "provider", "list", "--server", "1")
    assert listed.stdout.startswith("vertex, a project and location")
    assert ("Check the account that GOOGLE_APPLICATION_CREDENTIALS names" in done.stdout) is not missing
