"""Rate limits and faults of the local Discord, as discord.py meets them."""

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import discord
import pytest

from services.sandbox.discord.faults import Fault, Faults
from services.sandbox.discord.limits import Limits, LimitsConfig, Rate
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord

LogIn = Callable[[], Awaitable[discord.Client]]
Start = Callable[[SandboxConfig], Awaitable[SandboxDiscord]]

SEND = "/channels/*/messages"


def _contents(sandbox: SandboxDiscord) -> list[str]:
    return [message.content for message in sandbox.world.messages(sandbox.world.channel("general"))]


def _kinds(sandbox: SandboxDiscord) -> list[str]:
    return [entry.kind for entry in sandbox.world.journal.entries()]


@pytest.fixture
async def channel(sandbox: SandboxDiscord, rest_client: LogIn) -> discord.PartialMessageable:
    return (await rest_client()).get_partial_messageable(sandbox.world.channel("general").id)


async def test_one_client_paces_itself_by_the_headers(start_sandbox: Start, rest_client: LogIn) -> None:
    limits = LimitsConfig(rates={"message-create": Rate(2, 0.1)})
    sandbox = await start_sandbox(SandboxConfig(limits=limits))
    channel = (await rest_client()).get_partial_messageable(sandbox.world.channel("general").id)
    for number in range(5):
        await channel.send(str(number))
    assert _contents(sandbox) == ["0", "1", "2", "3", "4"]
    assert "rate_limited" not in _kinds(sandbox)


async def test_two_clients_that_share_a_channel_are_refused_and_wait(start_sandbox: Start, rest_client: LogIn) -> None:
    limits = LimitsConfig(rates={"message-create": Rate(2, 0.2)})
    sandbox = await start_sandbox(SandboxConfig(limits=limits))
    channel_id = sandbox.world.channel("general").id
    clients = [await rest_client() for _ in range(2)]
    await asyncio.gather(
        *(client.get_partial_messageable(channel_id).send(f"{client}") for client in clients for _ in range(3))
    )
    assert len(_contents(sandbox)) == 6
    assert "rate_limited" in _kinds(sandbox)


async def test_the_overall_limit_is_told_as_global(start_sandbox: Start) -> None:
    sandbox = await start_sandbox(SandboxConfig(limits=LimitsConfig(overall=Rate(1, 60.0))))
    assert sandbox.address is not None
    headers = {"Authorization": "Bot sandbox-token"}
    async with aiohttp.ClientSession(sandbox.address.url, headers=headers) as session:
        async with session.get("/api/v10/users/@me") as response:
            assert response.status == 200
        async with session.get("/api/v10/users/@me") as response:
            assert response.status == 429
            assert response.headers["Via"]
            assert response.headers["X-RateLimit-Scope"] == "global"
            body = await response.json()
    assert body["global"] is True
    assert 0 < body["retry_after"] <= 60


def test_a_window_opens_anew_when_it_ends() -> None:
    limits = Limits(LimitsConfig(rates={"b": Rate(2, 5.0)}))

    def remaining(now: float, major: str = "1") -> str | float:
        verdict = limits.check("b", major, now, 1_000.0, counts_overall=False)
        return verdict.retry_after_s or verdict.headers["X-RateLimit-Remaining"]

    assert [remaining(0.0), remaining(1.0), remaining(2.0)] == ["1", "0", 3.0]
    assert remaining(2.0, "2") == "1"
    assert remaining(5.0) == "1"


async def test_a_message_that_is_sent_although_its_answer_fails_is_not_sent_twice(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    sandbox.faults.add(Fault("POST", SEND, status=503, apply=True))
    with pytest.raises(discord.DiscordServerError):
        await channel.send("hello", nonce="n")
    assert _contents(sandbox) == ["hello"]
    message = await channel.send("hello", nonce="n")
    assert [message.id] == [one.id for one in sandbox.world.messages(sandbox.world.channel("general"))]


@pytest.mark.parametrize("apply", [True, False])
async def test_a_connection_is_cut_with_or_without_effect(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable, apply: bool
) -> None:
    sandbox.faults.add(Fault("POST", SEND, cut=True, apply=apply))
    with pytest.raises(aiohttp.ClientConnectionError):
        await channel.send("hello")
    assert _contents(sandbox) == ["hello"] * apply


async def test_discord_py_waits_as_long_as_a_429_says(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    sandbox.faults.add(Fault("POST", SEND, status=429, retry_after=0.01, times=2))
    await channel.send("hello")
    assert _kinds(sandbox)[-3:] == ["fault", "fault", "message_create"]


async def test_a_slow_call_is_done_in_the_end(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    sandbox.faults.add(Fault(path=SEND, delay_s=0.02))
    await channel.send("hello")
    assert _kinds(sandbox)[-2:] == ["fault", "message_create"]


async def test_a_call_that_its_client_gave_up_is_done_all_the_same(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    sandbox.faults.add(Fault(path=SEND, delay_s=0.05))
    sending = asyncio.create_task(channel.send("hello"))
    await sandbox.world.wait_for(lambda entry: entry.kind == "fault", 5)
    sending.cancel()
    await sandbox.world.wait_until(lambda: _contents(sandbox) == ["hello"], 5)


async def test_being_away_is_an_error_and_ends(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    sandbox.go_away(60, "503")
    with pytest.raises(discord.DiscordServerError):
        await channel.send("hello")
    sandbox.go_away(60, "cut")
    with pytest.raises(aiohttp.ClientConnectionError):
        await channel.send("hello")
    sandbox.faults.clear()
    await channel.send("hello")
    assert _contents(sandbox) == ["hello"]


def test_a_fault_skips_then_strikes_a_number_of_times() -> None:
    faults = Faults()
    fault = Fault("PATCH", "/channels/1/*", status=500, skip=2, times=2)
    faults.add(fault)
    met = [faults.meet("PATCH", "/channels/1/messages/2") for _ in range(5)]
    assert met == [None, None, fault, fault, None]
    assert faults.meet("GET", "/channels/1/messages/2") is None
    assert faults.listed() == []
