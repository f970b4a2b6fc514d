"""The local Discord's REST API, through discord.py without a gateway."""

import io
from collections.abc import Awaitable, Callable

import aiohttp
import discord
import pytest

from services.sandbox.discord.server import Address, SandboxDiscord

LogIn = Callable[[], Awaitable[discord.Client]]


@pytest.fixture
async def client(sandbox: SandboxDiscord, rest_client: LogIn) -> discord.Client:
    return await rest_client()


@pytest.fixture
def channel(sandbox: SandboxDiscord, client: discord.Client) -> discord.PartialMessageable:
    return client.get_partial_messageable(sandbox.world.channel("general").id)


def _contents(sandbox: SandboxDiscord) -> list[str]:
    return [message.content for message in sandbox.world.messages(sandbox.world.channel("general"))]


async def test_a_client_without_a_gateway_sends(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    message = await channel.send("  hello\n", silent=True, embed=discord.Embed(title="t", description="d"))
    assert _contents(sandbox) == ["hello"]
    assert message.flags.suppress_notifications
    assert message.embeds[0].description == "d"
    assert message.author.name == "odradek"


async def test_the_same_nonce_gives_the_same_message(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    first = await channel.send("once", nonce="turn-1")
    second = await channel.send("once more", nonce="turn-1")
    other = await channel.send("another", nonce="turn-2")
    assert first.id == second.id != other.id
    assert (first.nonce, second.content) == ("turn-1", "once")
    assert _contents(sandbox) == ["once", "another"]


async def test_a_nonce_serves_again_after_its_message_is_deleted(channel: discord.PartialMessageable) -> None:
    first = await channel.send("once", nonce="n")
    await first.delete()
    assert (await channel.send("again", nonce="n")).id != first.id


@pytest.mark.parametrize(
    ("sent", "code", "text"),
    [
        ({"content": "x" * 2001}, 50035, "In content: Must be 2000 or fewer in length."),
        ({"content": "hi", "nonce": "n" * 26}, 50035, "In nonce: Must be 25 or fewer in length."),
        ({"content": " \n "}, 50006, "Cannot send an empty message"),
        ({"embed": discord.Embed(description="x" * 4097)}, 50035, "In embeds.0.description"),
        ({"embeds": [discord.Embed(description="x" * 4000)] * 2}, 50035, "Embed size exceeds maximum size of 6000"),
    ],
)
async def test_what_is_no_message_is_refused(
    channel: discord.PartialMessageable, sent: dict[str, object], code: int, text: str
) -> None:
    with pytest.raises(discord.HTTPException, match=text) as refused:
        await channel.send(**sent)
    assert (refused.value.status, refused.value.code) == (400, code)


async def test_the_longest_message_is_counted_in_code_points(channel: discord.PartialMessageable) -> None:
    assert len((await channel.send("🧵" * 2000)).content) == 2000


async def test_history_pages_in_every_direction(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    world = sandbox.world
    posted = [world.post_as(world.user("ada"), world.channel("general"), str(n)) for n in range(250)]
    middle = discord.Object(posted[100].id)

    async def contents(**options: object) -> list[int]:
        return [int(message.content) async for message in channel.history(**options)]

    assert await contents(limit=None) == list(range(249, -1, -1))
    assert await contents(limit=None, after=middle) == list(range(101, 250))
    assert await contents(limit=120, before=middle) == list(range(99, -1, -1))
    around = await contents(limit=5, around=middle)
    assert sorted(around) == [98, 99, 100, 101, 102]


async def test_a_page_of_more_than_100_is_refused(client: discord.Client, sandbox: SandboxDiscord) -> None:
    with pytest.raises(
        discord.HTTPException, match="In limit: int value should be less than or equal to 100"
    ) as refused:
        await client.http.logs_from(sandbox.world.channel("general").id, 101)
    assert refused.value.code == 50035


async def test_a_message_is_read_changed_and_deleted(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    message = await channel.send("draft")
    await message.edit(content="final", embed=discord.Embed(title="t"))
    read = await channel.fetch_message(message.id)
    assert (read.content, read.embeds[0].title, read.edited_at is not None) == ("final", "t", True)
    await message.edit(embed=None)
    assert (await channel.fetch_message(message.id)).embeds == []
    await message.delete()
    with pytest.raises(discord.NotFound) as gone:
        await channel.fetch_message(message.id)
    assert gone.value.code == 10008
    assert _contents(sandbox) == []


async def test_anothers_message_can_be_deleted_but_not_changed(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    world = sandbox.world
    posted = world.post_as(world.user("ada"), world.channel("general"), "mine")
    message = channel.get_partial_message(posted.id)
    with pytest.raises(discord.Forbidden) as refused:
        await message.edit(content="yours")
    assert refused.value.code == 50005
    await message.delete()
    assert _contents(sandbox) == []


async def test_a_reply_to_what_is_gone_fails_unless_it_may_not(
    sandbox: SandboxDiscord, channel: discord.PartialMessageable
) -> None:
    world = sandbox.world
    posted = world.post_as(world.user("ada"), world.channel("general"), "question")
    world.delete(posted)
    gone = channel.get_partial_message(posted.id)
    with pytest.raises(discord.HTTPException, match="In message_reference: Unknown message") as refused:
        await gone.reply("answer")
    assert refused.value.code == 50035
    assert (await channel.send("answer", reference=gone.to_reference(fail_if_not_exists=False))).reference is None


async def test_mentions_follow_allowed_mentions(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    world = sandbox.world
    ada, grace = world.user("ada"), world.user("grace")
    text = f"<@{ada.id}> <@!{grace.id}> @everyone <@12345>"

    async def mentions(allowed: discord.AllowedMentions | None) -> tuple[list[str], bool]:
        message = await channel.send(text, allowed_mentions=allowed)
        return [user.name for user in message.mentions], message.mention_everyone

    assert await mentions(None) == (["ada", "grace"], True)
    assert await mentions(discord.AllowedMentions.none()) == ([], False)
    only_ada = discord.AllowedMentions(users=[discord.Object(ada.id)], everyone=False, roles=False)
    assert await mentions(only_ada) == (["ada"], False)


async def test_a_reply_notifies_only_if_it_may(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    world = sandbox.world
    posted = world.post_as(world.user("ada"), world.channel("general"), "question")
    target = channel.get_partial_message(posted.id)
    assert [user.name for user in (await target.reply("a")).mentions] == ["ada"]
    assert (await target.reply("b", mention_author=False)).mentions == []


async def test_files_are_attached_and_can_be_read(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    file = discord.File(io.BytesIO(b"thread"), "spool.txt", description="a spool")
    message = await channel.send("look", file=file)
    (attachment,) = message.attachments
    assert (attachment.filename, attachment.size, attachment.description) == ("spool.txt", 6, "a spool")
    async with aiohttp.ClientSession() as session, session.get(attachment.url) as response:
        assert await response.read() == b"thread"
    edited = await message.edit(attachments=[])
    assert edited.attachments == []


async def test_a_channel_that_is_closed_or_gone_says_so(
    sandbox: SandboxDiscord, client: discord.Client, channel: discord.PartialMessageable
) -> None:
    world = sandbox.world
    general = world.channel("general")
    message = await channel.send("before")
    for closed, code in ((50013, 50013), (50001, 50001)):
        world.deny(general, closed)
        with pytest.raises(discord.Forbidden) as refused:
            await channel.send("during")
        assert refused.value.code == code
    world.deny(general, None)
    await channel.send("after")
    world.delete_channel(general)
    for attempt in (channel.send("late"), message.edit(content="late"), client.fetch_channel(general.id)):
        with pytest.raises(discord.NotFound) as gone:
            await attempt
        assert gone.value.code == 10003


async def test_webhooks_send_under_their_own_name(
    sandbox: SandboxDiscord, client: discord.Client, channel: discord.PartialMessageable
) -> None:
    general = await client.fetch_channel(sandbox.world.channel("general").id)
    assert isinstance(general, discord.TextChannel)
    webhook = await general.create_webhook(name="spool")
    assert [found.id for found in await general.webhooks()] == [webhook.id]
    message = await webhook.send("hello", username="thread", wait=True)
    assert (message.author.name, message.webhook_id) == ("thread", webhook.id)
    await message.edit(content="changed")
    assert _contents(sandbox) == ["changed"]
    await message.delete()
    await webhook.delete()
    with pytest.raises(discord.NotFound) as gone:
        await webhook.send("late", wait=True)
    assert gone.value.code == 10015


async def test_typing_is_noted(sandbox: SandboxDiscord, channel: discord.PartialMessageable) -> None:
    async with channel.typing():
        entry = await sandbox.world.wait_for(lambda entry: entry.kind == "typing", 5)
    assert entry.author is sandbox.world.bot


async def test_only_json_is_answered_and_unknown_paths_are_not_found(address: Address) -> None:
    headers = {"Authorization": "Bot sandbox-token", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.get(address.api_url + "/users/@me") as response:
            assert response.headers["Content-Type"] == "application/json"
        async with session.get(address.api_url + "/nowhere") as response:
            assert (response.status, await response.json()) == (404, {"message": "404: Not Found", "code": 0})
        async with session.get(address.api_url + "/channels/general") as response:
            assert (await response.json())["code"] == 50035
        async with session.post(address.api_url + "/channels/1/messages", data=b"{") as response:
            assert (await response.json())["code"] == 50109
        async with session.get(address.api_url + "/users/@me", headers={"Authorization": "Bot x"}) as response:
            assert (response.status, await response.json()) == (401, {"message": "401: Unauthorized", "code": 0})
