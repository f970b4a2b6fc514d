"""Google's application default credentials for tests: a service account's key made here, and where its tokens come from."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


@dataclass
class TokenEndpoint:
    """Gives out `token`, or numbered ones; `answer` replaces the next answers, `held` keeps them back."""

    url: str = ""
    token: str | None = None
    lasts_s: int = 3600
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    answer: web.Response | None = None
    held: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.held.set()

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append({name: str(value) for name, value in (await request.post()).items()})
        self.arrived.set()
        await self.held.wait()
        if self.answer is not None:
            return web.Response(status=self.answer.status, body=self.answer.body, content_type="application/json")
        token = self.token or f"ya29.token-number-{len(self.asked)}"
        return web.json_response({"access_token": token, "expires_in": self.lasts_s, "token_type": "Bearer"})


@asynccontextmanager
async def google_account(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TokenEndpoint]:
    """A token endpoint, and application default credentials that name it."""
    made = TokenEndpoint()
    app = web.Application()
    app.router.add_post("/token", made.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/token"
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    key_file = folder / "account.json"
    key_file.write_text(
        json.dumps(
            {
                "type": "service_account",
                "project_id": "my-project",
                "private_key_id": "1",
                "private_key": private.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                ).decode(),
                "client_email": "odradek@my-project.iam.gserviceaccount.com",
                "client_id": "1",
                "token_uri": made.url,
            }
        )
    )
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file))
    yield made
    made.held.set()
    await runner.cleanup()
