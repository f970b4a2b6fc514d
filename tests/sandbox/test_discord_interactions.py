"""Commands, buttons and forms of the local Discord, answered by discord.py."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import discord
import pytest
from discord import app_commands

from services.sandbox.discord.entities import LOADING, Message
from services.sandbox.discord.server import SandboxDiscord

Run = Callable[[discord.Client], AbstractAsyncContextManager[None]]


class StopButton(discord.ui.DynamicItem[discord.ui.Button[discord.ui.View]], template=r"stop:(?P<turn>\d+)"):
    def __init__(self, turn: int) -> None:
        super().__init__(discord.ui.Button(label="Stop", custom_id=f"stop:{turn}"))
        self.turn = turn

    @classmethod
    async def from_custom_id(cls, interaction: Any, item: Any, match: re.Match[str]) -> "StopButton":
        return cls(int(match["turn"]))

    async def callback(self, interaction: discord.Interaction) -> Any:
        await interaction.response.edit_message(content=f"stopped {self.turn}", view=None)


class NameForm(discord.ui.Modal, title="Name"):
    name = discord.ui.TextInput["NameForm"](label="Name", custom_id="name")

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        await interaction.response.send_message(f"named {self.name.value}", ephemeral=True)


class Bot(discord.Client):
    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.all(), guild_ready_timeout=0.05)
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self) -> None:
        self.add_dynamic_items(StopButton)
        drafts = app_commands.Group(name="draft", description="Drafts")
        self.tree.add_command(drafts)

        @drafts.command(description="Approve a draft")
        async def approve(interaction: discord.Interaction, number: int, whose: discord.Member) -> None:
            await interaction.response.send_message(f"{number + 1} of {whose.name}")

        @self.tree.command(description="Think, then answer")
        async def think(interaction: discord.Interaction) -> None:
            await interaction.response.defer(thinking=True)
            await interaction.edit_original_response(content="thought")
            more = await interaction.followup.send("and more", wait=True)
            await more.edit(content="and more of it")
            assert (await interaction.original_response()).content == "thought"

        @self.tree.command(description="A secret")
        async def secret(interaction: discord.Interaction) -> None:
            await interaction.response.send_message("psst", ephemeral=True)

        @self.tree.command(description="Ask for a name")
        async def name(interaction: discord.Interaction) -> None:
            await interaction.response.send_modal(NameForm())

        await self.tree.sync()


def _last(sandbox: SandboxDiscord) -> Message:
    return sandbox.world.messages(sandbox.world.channel("general"))[-1]


async def _wait_for_content(sandbox: SandboxDiscord, content: str) -> Message:
    await sandbox.world.wait_for(lambda entry: _content(entry.data) == content, 10)
    return _last(sandbox)


def _content(data: Any) -> object:
    return data["message"]["content"] if "message" in data else None


async def test_a_command_in_a_group_gets_its_typed_options(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    ada = world.user("ada")
    async with running(Bot()):
        world.use_command(ada, world.channel("general"), "draft approve", {"number": 1, "whose": str(ada.id)})
        message = await _wait_for_content(sandbox, "2 of ada")
    assert message.origin is not None
    assert (message.origin.name, message.origin.user) == ("draft", ada)


async def test_a_deferred_answer_is_filled_in_and_followed_up(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    async with running(Bot()):
        world.use_command(world.user("ada"), world.channel("general"), "think")
        await _wait_for_content(sandbox, "and more of it")
    first, second = world.messages(world.channel("general"))
    assert (first.content, first.flags & LOADING, second.content) == ("thought", 0, "and more of it")


async def test_a_button_that_outlived_its_process_is_pressed(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    general = world.channel("general")
    async with running(Bot()) as _:
        pass
    rest = discord.Client(intents=discord.Intents.none())
    await rest.login("sandbox-token")
    view = discord.ui.View(timeout=None).add_item(StopButton(42))
    await rest.get_partial_messageable(general.id).send("running", view=view)
    await rest.close()
    async with running(Bot()):
        world.press_button(world.user("grace"), _last(sandbox), "stop:42")
        message = await _wait_for_content(sandbox, "stopped 42")
    assert message.components == []
    with pytest.raises(LookupError):
        world.press_button(world.user("grace"), message, "stop:42")


async def test_an_ephemeral_answer_is_seen_by_one_user_and_not_in_history(
    sandbox: SandboxDiscord, running: Run
) -> None:
    world = sandbox.world
    bot = Bot()
    async with running(bot):
        world.use_command(world.user("ada"), world.channel("general"), "secret")
        message = await _wait_for_content(sandbox, "psst")
        channel = bot.get_partial_messageable(world.channel("general").id)
        assert [one async for one in channel.history()] == []
    assert message.visible_to == world.user("ada").id


async def test_a_form_is_shown_and_sent(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    async with running(Bot()):
        shown = world.use_command(world.user("ada"), world.channel("general"), "name")
        await world.wait_for(lambda entry: entry.kind == "interaction_response", 10)
        world.submit_modal(world.user("ada"), shown, {"name": "Odradek"})
        await _wait_for_content(sandbox, "named Odradek")


async def test_a_command_in_a_direct_message_comes_from_a_user(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    dm = world.open_dm(world.user("ada"))
    async with running(Bot()):
        world.use_command(world.user("ada"), dm, "think")
        await world.wait_for(lambda entry: _content(entry.data) == "and more of it", 10)
    assert [message.content for message in world.messages(dm)] == ["thought", "and more of it"]


async def test_an_interaction_is_answered_once(sandbox: SandboxDiscord, running: Run) -> None:
    client = discord.Client(intents=discord.Intents.all(), guild_ready_timeout=0.05)
    codes = asyncio.Queue[int]()

    @client.event
    async def on_interaction(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("once")
        interaction.response._response_type = None
        try:
            await interaction.response.send_message("twice")
        except discord.HTTPException as error:
            codes.put_nowait(error.code)

    world = sandbox.world
    world.interactions.commands["ping"] = {"id": "1", "name": "ping"}
    async with running(client):
        world.use_command(world.user("ada"), world.channel("general"), "ping")
        assert await asyncio.wait_for(codes.get(), 10) == 40060
    assert [message.content for message in world.messages(world.channel("general"))] == ["once"]


@pytest.mark.parametrize("name", ["nothing", "draft", "draft nothing"])
async def test_a_command_that_is_not_registered_cannot_be_used(
    sandbox: SandboxDiscord, running: Run, name: str
) -> None:
    world = sandbox.world
    async with running(Bot()):
        pass
    with pytest.raises(LookupError):
        world.use_command(world.user("ada"), world.channel("general"), name)
