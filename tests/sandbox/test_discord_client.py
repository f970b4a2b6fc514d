from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import discord

from services.sandbox.discord.server import SandboxDiscord

Run = Callable[[discord.Client], AbstractAsyncContextManager[None]]


async def test_a_client_gets_ready_and_answers_a_message(sandbox: SandboxDiscord, running: Run) -> None:
    world = sandbox.world
    client = discord.Client(intents=discord.Intents.all(), guild_ready_timeout=0.05)

    @client.event
    async def on_message(message: discord.Message) -> None:
        if not message.author.bot:
            await message.reply(f"{message.content} to {message.author.display_name}")

    async with running(client):
        asked = world.post_as(world.user("ada"), world.channel("general"), "hello")
        answer = await world.wait_for(lambda e: e.kind == "message_create" and e.author is world.bot, 5)
    assert answer.data["message"]["content"] == "hello to Ada"
    assert answer.data["message"]["reply_to"] == str(asked.id)
