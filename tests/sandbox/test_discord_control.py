"""The control API of the local Discord, as another process uses it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson
import pytest

from services.sandbox.discord.server import Address, SandboxDiscord, serve


@pytest.fixture
async def control(address: Address) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(address.url + "/_sandbox/") as session:
        yield session


async def _post(control: aiohttp.ClientSession, path: str, /, **body: object) -> Any:
    async with control.post(path, json=body) as response:
        answer = await response.json()
        assert response.status == 200, answer
        return answer


async def test_health_and_state_are_shown(control: aiohttp.ClientSession) -> None:
    async with control.get("health") as response:
        assert (await response.json())["status"] == "ok"
    async with control.get("state") as response:
        state = await response.json()
    assert [channel["name"] for channel in state["guilds"][0]["channels"]] == ["general", "help"]
    assert [user["username"] for user in state["users"]] == ["odradek", "owner", "ada", "grace"]
    assert state["away"] is None


async def test_people_come_talk_and_leave_traces(sandbox: SandboxDiscord, control: aiohttp.ClientSession) -> None:
    await _post(control, "users", username="kafka")
    await _post(control, "channels", name="prague")
    files = [{"filename": "letter.txt", "content": "Dear Max"}]
    first = await _post(control, "messages", user="kafka", channel="#prague", content="hello", files=files)
    reply_to = first["message"]["id"]
    await _post(control, "messages", user="ada", channel="prague", content="hi", reply_to=reply_to)
    async with control.patch(f"messages/{reply_to}", json={"user": "kafka", "content": "hello!"}) as response:
        assert (await response.json())["message"]["content"] == "hello!"
    async with control.get("channels/prague/messages") as response:
        shown = (await response.json())["messages"]
    assert [(one["content"], one["reply_to"]) for one in shown] == [("hello!", None), ("hi", reply_to)]
    assert shown[0]["attachments"][0]["filename"] == "letter.txt"
    async with control.delete(f"messages/{reply_to}") as response:
        assert response.status == 200
    async with control.delete("channels/prague") as response:
        assert response.status == 200
    with pytest.raises(LookupError):
        sandbox.world.channel("prague")


async def test_events_are_streamed_from_where_a_reader_left(
    sandbox: SandboxDiscord, control: aiohttp.ClientSession
) -> None:
    after = sandbox.world.journal.last_seq
    await _post(control, "messages", user="ada", channel="general", content="before")
    async with control.get("events", params={"after": str(after)}) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        first = await _event(stream)
        await _post(control, "typing", user="ada", channel="general")
        second = await _event(stream)
    assert first["message"]["content"] == "before"
    assert (first["kind"], second["kind"]) == ("message_create", "typing")
    assert (first["seq"], second["seq"]) == (after + 1, after + 2)
    assert first["author"]["username"] == "ada"


async def _event(stream: aiohttp.ClientResponse) -> Any:
    fields = dict[bytes, bytes]()
    while line := (await stream.content.readline()).rstrip(b"\n"):
        name, _, value = line.partition(b": ")
        fields[name] = value
    event = orjson.loads(fields[b"data"])
    assert (int(fields[b"id"]), fields[b"event"].decode()) == (event["seq"], event["kind"])
    return event


async def test_faults_are_set_seen_and_cleared(sandbox: SandboxDiscord, control: aiohttp.ClientSession) -> None:
    made = await _post(control, "faults", method="POST", path="/channels/*/messages", status=500, apply=True)
    assert sandbox.faults.listed()[0]["id"] == made["id"]
    async with control.delete(f"faults/{made['id']}") as response:
        assert await response.json() == {"faults": []}
    await _post(control, "away", seconds=60, how="503")
    async with control.get("state") as response:
        assert (await response.json())["away"] == "503"
    async with control.delete("faults") as response:
        assert response.status == 200
    async with control.get("state") as response:
        assert (await response.json())["away"] is None
    assert await _post(control, "disconnect") == {"disconnected": 0}


async def test_a_channel_is_closed_to_the_bot_and_opened(
    sandbox: SandboxDiscord, control: aiohttp.ClientSession
) -> None:
    assert (await _post(control, "channels/general/deny", code=50013))["channel"]["denied"] == 50013
    await _post(control, "channels/general/deny", code=None)
    assert sandbox.world.channel("general").denied is None


async def test_buttons_commands_and_direct_messages_are_used(
    sandbox: SandboxDiscord, control: aiohttp.ClientSession, address: Address
) -> None:
    dm = (await _post(control, "dms", user="ada"))["channel"]
    headers = {"Authorization": "Bot sandbox-token"}
    button = {"type": 2, "style": 1, "label": "Stop", "custom_id": "stop"}
    body = {"content": "running", "components": [{"type": 1, "components": [button]}]}
    async with aiohttp.ClientSession(headers=headers) as bot:
        async with bot.post(f"{address.api_url}/channels/{dm['id']}/messages", json=body) as response:
            message = await response.json()
        commands = f"{address.api_url}/applications/{sandbox.world.state.application.id}/commands"
        async with bot.post(commands, json={"name": "ping", "description": "Ping"}) as response:
            assert response.status == 200
    pressed = await _post(control, "buttons", user="ada", message=message["id"], custom_id="stop")
    used = await _post(control, "commands", user="ada", channel="@ada", name="ping")
    assert (pressed["interaction"]["type"], used["interaction"]["type"]) == (3, 2)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("messages", {"user": "nobody", "channel": "general", "content": "x"}, 404),
        ("messages", {"user": "ada", "channel": "general", "content": ""}, 400),
        ("messages", {"user": "ada", "channel": "general", "content": "x", "reply_to": "y"}, 400),
        ("messages", {"channel": "general"}, 400),
        ("faults", {"status": 200}, 400),
        ("buttons", {"user": "ada", "message": "1", "custom_id": "x"}, 404),
        ("commands", {"user": "ada", "channel": "general", "name": "x"}, 404),
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_reason(
    control: aiohttp.ClientSession, path: str, body: dict[str, object], status: int
) -> None:
    async with control.post(path, json=body) as response:
        assert response.status == status
        assert (await response.json())["error"]


async def test_a_page_of_another_origin_cannot_post_plain_text(control: aiohttp.ClientSession) -> None:
    async with control.post("users", data="{}") as response:
        assert response.status == 415


async def test_a_server_runs_until_it_is_cancelled() -> None:
    started = asyncio.get_running_loop().create_future()
    run = asyncio.create_task(serve("127.0.0.1", 0, started=started.set_result))
    address = await started
    async with aiohttp.ClientSession() as session, session.get(address.url + "/_sandbox/health") as response:
        assert response.status == 200
    run.cancel()
    await asyncio.wait({run})
    with pytest.raises(aiohttp.ClientConnectorError):
        async with aiohttp.ClientSession() as session:
            await session.get(address.url + "/_sandbox/health")
