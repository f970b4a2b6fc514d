"""A stage without a broker: a local Discord, the light provider, and the reference's process between them."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from services.runtime.settings import Settings
from services.sandbox.benchmark.provider import BenchProvider, Call
from services.sandbox.benchmark.stage import Stage
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord
from services.sandbox.discord.world import WorldConfig


@pytest.fixture(params=["openai-chat", "anthropic"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    token = f"bench-token-{uuid4().hex}"
    discord = SandboxDiscord(SandboxConfig(world=WorldConfig(token=token), limits=LimitsConfig(enabled=False)))
    at = await discord.start()

    def called(call: Call) -> None:
        stage.called(call)

    provider = BenchProvider(request.param, called)
    environment = {
        "ODRADEK_DISCORD_API": at.api_url,
        "ODRADEK_DISCORD_GATEWAY": at.gateway_url,
        "ODRADEK_DISCORD_TOKEN": token,
        "ODRADEK_PROVIDER_URL": await provider.start(),
        "ODRADEK_DIALECT": request.param,
    }
    settings = Settings.model_validate({n.removeprefix("ODRADEK_").lower(): v for n, v in environment.items()})
    stage = Stage(settings, environment, "none", 16, discord, provider)
    discord.world.state.listen(stage.saw)
    yield stage
    await provider.stop()
    await discord.stop()
