"""Registering the bot's slash commands with Discord, once an installation and not at each start."""

import asyncio

import discord

from services.gateway.controls import command_tree
from services.gateway.stops import Stops
from services.runtime.log import Appended, NewRecord


async def register_commands(client: discord.Client) -> list[str]:
    """Make Discord's global commands of a logged-in REST client's bot those of this code; returns their names.

    Raises what discord.py raises.
    """
    return [command.name for command in await command_tree(client, Stops(_nowhere)).sync()]


def _nowhere(_: NewRecord) -> "asyncio.Future[Appended]":
    raise AssertionError("a client without a websocket gets no interactions")
