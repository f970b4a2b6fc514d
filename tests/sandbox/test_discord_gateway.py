"""The local Discord's gateway, through discord.py and through a bare websocket."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiohttp
import discord
import orjson
import pytest

from services.sandbox.discord.entities import Message
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import Address, SandboxConfig, SandboxDiscord
from services.sandbox.discord.snowflakes import shard_of
from services.sandbox.discord.world import WorldConfig

Start = Callable[[SandboxConfig], Awaitable[SandboxDiscord]]
Run = Callable[[discord.Client], AbstractAsyncContextManager[None]]

UNLIMITED = LimitsConfig(enabled=False)


class Listening:
    """Keeps each message that it sees."""

    def __init__(self, intents: discord.Intents | None = None) -> None:
        super().__init__(intents=intents or discord.Intents.all(), guild_ready_timeout=0.05)
        self.seen = asyncio.Queue[discord.Message]()

    async def on_message(self, message: discord.Message) -> None:
        self.seen.put_nowait(message)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Without discord.py's five seconds between two identifies."""


class Listener(Listening, discord.Client):
    pass


class ShardedListener(Listening, discord.AutoShardedClient):
    pass


async def _next(listener: Listener | ShardedListener) -> discord.Message:
    return await asyncio.wait_for(listener.seen.get(), 10)


def _say(sandbox: SandboxDiscord, content: str, who: str = "ada", where: str = "general") -> Message:
    return sandbox.world.post_as(sandbox.world.user(who), sandbox.world.channel(where), content)


async def test_a_client_becomes_ready_with_the_guild_its_channels_and_members(
    sandbox: SandboxDiscord, running: Run
) -> None:
    client = Listener()
    async with running(client):
        (guild,) = client.guilds
        assert guild.name == "Sandbox"
        assert [channel.name for channel in guild.text_channels] == ["general", "help"]
        assert {member.name for member in guild.members} == {"owner", "odradek", "ada", "grace"}
        assert client.user is not None
        assert client.user.name == "odradek"
        assert client.application_id == sandbox.world.state.application.id


async def test_without_the_members_intent_the_bot_knows_only_itself(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener(discord.Intents(guilds=True))
    async with running(client):
        assert [member.name for member in client.guilds[0].members] == ["odradek"]


async def test_a_reply_shows_what_it_replies_to(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    async with running(client):
        asked = _say(sandbox, "what is it?")
        question = await _next(client)
        answer = await question.reply("a spool")
        sandbox.world.post_as(
            sandbox.world.user("grace"), sandbox.world.channel("general"), "thanks", sandbox.world.message(answer.id)
        )
        assert (await _next(client)).id == answer.id
        thanks = await _next(client)
    assert question.id == asked.id
    assert thanks.reference is not None
    assert isinstance(thanks.reference.resolved, discord.Message)
    assert thanks.reference.resolved.content == "a spool"
    assert [user.name for user in thanks.mentions] == ["odradek"]


async def test_edits_deletions_and_typing_arrive(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    events = asyncio.Queue[tuple[str, object]]()

    @client.event
    async def on_message_edit(before: discord.Message, after: discord.Message) -> None:
        events.put_nowait((before.content, after.content))

    @client.event
    async def on_message_delete(message: discord.Message) -> None:
        events.put_nowait(("deleted", message.content))

    @client.event
    async def on_typing(channel: discord.TextChannel, user: discord.Member, when: object) -> None:
        events.put_nowait((channel.name, user.name))

    @client.event
    async def on_guild_channel_create(channel: discord.TextChannel) -> None:
        events.put_nowait(("created", channel.name))

    @client.event
    async def on_guild_channel_delete(channel: discord.TextChannel) -> None:
        events.put_nowait(("gone", channel.name))

    world = sandbox.world
    async with running(client):
        message = _say(sandbox, "one")
        await _next(client)
        world.edit_as(world.user("ada"), message, "two")
        world.delete(message)
        world.type_as(world.user("ada"), world.channel("general"))
        world.add_channel(world.first_guild, "new")
        world.delete_channel(world.channel("help"))
        got = [await asyncio.wait_for(events.get(), 10) for _ in range(5)]
    assert got == [("one", "two"), ("deleted", "two"), ("general", "ada"), ("created", "new"), ("gone", "help")]


async def test_a_guild_that_the_bot_joins_later_arrives(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    joined = asyncio.Queue[str]()

    @client.event
    async def on_guild_available(guild: discord.Guild) -> None:
        joined.put_nowait(guild.name)

    async with running(client):
        assert await joined.get() == "Sandbox"
        sandbox.world.add_guild("Castle", (sandbox.world.user("ada"),))
        assert await asyncio.wait_for(joined.get(), 10) == "Castle"


async def test_without_the_content_intent_only_what_concerns_the_bot_has_content(
    sandbox: SandboxDiscord, running: Run
) -> None:
    client = Listener(discord.Intents.default())
    world = sandbox.world
    async with running(client):
        _say(sandbox, "secret")
        _say(sandbox, f"<@{world.bot.id}> hello")
        world.post_as(world.user("ada"), world.open_dm(world.user("ada")), "in private")
        contents = [(await _next(client)).content for _ in range(3)]
    assert contents == ["", f"<@{world.bot.id}> hello", "in private"]


async def test_a_direct_message_can_be_answered_and_begun(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    world = sandbox.world
    ada = world.user("ada")
    async with running(client):
        world.post_as(ada, world.open_dm(ada), "psst")
        asked = await _next(client)
        assert isinstance(asked.channel, discord.DMChannel)
        await asked.channel.send("yes?")
        grace = await client.fetch_user(world.user("grace").id)
        await grace.send("hello grace")
    assert [message.content for message in world.messages(world.open_dm(ada))] == ["psst", "yes?"]
    assert [message.content for message in world.messages(world.channel("@grace"))] == ["hello grace"]


@pytest.mark.parametrize("how", ["close", "cut", "reconnect"])
async def test_a_resumed_session_misses_nothing_and_sees_nothing_twice(
    sandbox: SandboxDiscord, running: Run, how: Any
) -> None:
    client = Listener()
    async with running(client):
        _say(sandbox, "0")
        before = sandbox.world.journal.last_seq
        assert await sandbox.gateway.disconnect(how) == 1
        for number in range(1, 30):
            _say(sandbox, str(number))
        await sandbox.world.wait_for(lambda entry: entry.kind == "session_resume", 10, before)
        _say(sandbox, "30")
        contents = [(await _next(client)).content for _ in range(31)]
    assert contents == [str(number) for number in range(31)]
    assert [entry.kind for entry in sandbox.world.journal.entries()].count("session_start") == 1


async def test_a_session_that_cannot_be_resumed_is_begun_anew(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    async with running(client):
        before = sandbox.world.journal.last_seq
        await sandbox.gateway.disconnect(resumable=False)
        _say(sandbox, "missed")
        await sandbox.world.wait_for(lambda entry: entry.kind == "session_start", 20, before)
        _say(sandbox, "seen")
        assert (await _next(client)).content == "seen"


async def test_events_go_to_the_shard_of_their_guild_and_direct_messages_to_shard_0(
    start_sandbox: Start, running: Run
) -> None:
    sandbox = await start_sandbox(SandboxConfig(limits=UNLIMITED, shards=2))
    world = sandbox.world
    ada = world.user("ada")
    guilds = [world.first_guild]
    while len({shard_of(guild.id, 2) for guild in guilds}) < 2:
        guilds.append(world.add_guild(f"guild {len(guilds)}", (ada,)))
    client = ShardedListener()
    async with running(client):
        assert client.shard_count == 2
        assert {guild.id: guild.shard_id for guild in client.guilds} == {
            guild.id: shard_of(guild.id, 2) for guild in guilds
        }
        for guild in guilds:
            channel = world.add_channel(guild, "talk")
            world.post_as(ada, channel, guild.name)
        world.post_as(ada, world.open_dm(ada), "private")
        seen = sorted([(await _next(client)).content for _ in range(len(guilds) + 1)])
    assert seen == sorted([*(guild.name for guild in guilds), "private"])


async def test_a_wrong_token_is_no_login(sandbox: SandboxDiscord) -> None:
    client = Listener()
    with pytest.raises(discord.LoginFailure):
        await client.start("wrong")
    await client.close()


async def test_an_intent_that_is_not_enabled_is_refused(start_sandbox: Start, running: Run) -> None:
    await start_sandbox(SandboxConfig(world=WorldConfig(intents=0)))
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(Listener()):
            pass


async def _identify(socket: aiohttp.ClientWebSocketResponse, **fields: object) -> None:
    identify = {"token": "sandbox-token", "intents": 0, "properties": {}, **fields}
    await socket.send_json({"op": 2, "d": identify})


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"op": 2, "d": {"token": "wrong", "intents": 0}}, 4004),
        ({"op": 6, "d": {"token": "wrong", "session_id": "x", "seq": 1}}, 4004),
        ({"op": 2, "d": {"token": "sandbox-token", "intents": 0, "shard": [2, 2]}}, 4010),
        ({"op": 2, "d": {"token": "sandbox-token", "intents": 1 << 40}}, 4013),
        ({"op": 2, "d": {}}, 4002),
        ({"op": 8, "d": {}}, 4003),
        ({"op": 77, "d": {}}, 4001),
    ],
)
async def test_a_frame_that_is_not_allowed_closes_with_its_code(address: Address, frame: object, code: int) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(address.gateway_url) as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json(frame)
        closed = await socket.receive()
    assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, code)


async def test_a_second_identify_closes_and_heartbeats_are_acknowledged(address: Address) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(address.gateway_url) as socket:
        await socket.receive_json()
        await socket.send_json({"op": 1, "d": None})
        assert (await socket.receive_json())["op"] == 11
        await _identify(socket)
        assert (await socket.receive_json())["t"] == "READY"
        await _identify(socket)
        assert (await socket.receive()).data == 4005


async def test_a_session_that_is_unknown_is_not_resumed(address: Address) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(address.gateway_url) as socket:
        await socket.receive_json()
        await socket.send_json({"op": 6, "d": {"token": "sandbox-token", "session_id": "gone", "seq": 3}})
        assert await socket.receive_json() == {"op": 9, "d": False}


async def test_members_are_told_on_request(address: Address) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(address.gateway_url) as socket:
        await socket.receive_json()
        await _identify(socket, intents=1)
        await socket.receive_json()
        guild_id = (await socket.receive_json())["d"]["id"]
        await socket.send_json({"op": 8, "d": {"guild_id": guild_id, "query": "a", "limit": 5, "nonce": "n"}})
        chunk = (await socket.receive_json())["d"]
    assert [member["user"]["username"] for member in chunk["members"]] == ["ada"]
    assert chunk["nonce"] == "n"


async def test_a_silent_client_is_dropped(start_sandbox: Start) -> None:
    sandbox = await start_sandbox(SandboxConfig(heartbeat_s=0.05))
    assert sandbox.address is not None
    async with aiohttp.ClientSession() as session, session.ws_connect(sandbox.address.gateway_url) as socket:
        assert orjson.loads((await socket.receive()).data)["d"] == {"heartbeat_interval": 50}
        assert (await socket.receive()).data == 4009


async def test_nothing_is_told_of_a_channel_that_is_hidden_from_the_bot(sandbox: SandboxDiscord, running: Run) -> None:
    client = Listener()
    world = sandbox.world
    async with running(client):
        world.deny(world.channel("general"), 50001)
        _say(sandbox, "secret")
        _say(sandbox, "open", where="help")
        assert (await _next(client)).content == "open"


async def test_clients_are_told_the_public_address(start_sandbox: Start) -> None:
    sandbox = await start_sandbox(SandboxConfig(public_url="http://discord:8080"))
    assert sandbox.address is not None
    headers = {"Authorization": "Bot sandbox-token"}
    url = f"http://127.0.0.1:{sandbox.address.port}/api/v10/gateway/bot"
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as response:
        assert (await response.json())["url"] == "ws://discord:8080/gateway/"


async def test_a_client_that_says_goodbye_has_no_session_to_resume(address: Address) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(address.gateway_url) as socket:
            await socket.receive_json()
            await _identify(socket)
            session_id = (await socket.receive_json())["d"]["session_id"]
            await socket.close(code=1000)
        async with session.ws_connect(address.gateway_url) as socket:
            await socket.receive_json()
            await socket.send_json({"op": 6, "d": {"token": "sandbox-token", "session_id": session_id, "seq": 1}})
            assert (await socket.receive_json())["op"] == 9
