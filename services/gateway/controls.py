"""What users can press: the command /kill and the Stop button, each of which writes a stop and answers in private."""

import re
from typing import Any, Protocol, Self

import discord
from discord import app_commands

from schemas.discord import STOP_CUSTOM_ID, stop_custom_id
from schemas.stops import StopRequested
from services.gateway.stops import Stops, either, kill_channel, stop_turn
from services.runtime.discord import UNREACHABLE
from services.runtime.logs import get_logger

logger = get_logger("gateway.controls")

STOPPED = "Stopped."
WAITING = "The stop is under way, but the log has not confirmed it yet. It takes effect as soon as the log answers."
REFUSED = "The log does not answer and too many stops wait for it already. Please try again later."
_WITHIN_S = 30.0


class HasStops(Protocol):
    """The part of the gateway's client that the Stop button needs."""

    stops: Stops


async def answer_stop(interaction: "discord.Interaction[Any]", stops: Stops, stop: StopRequested) -> None:
    """Write the stop, and tell the user in private when the log has it."""
    # The write goes first: Discord's 3 s for an answer run, but so do the turns.
    writes = stops.write(stop)
    try:
        await interaction.response.defer(ephemeral=True, thinking=True)
        text = REFUSED
        if writes:
            text = STOPPED if await either(writes, within_s=_WITHIN_S) else WAITING
        await interaction.edit_original_response(content=text)
    except (discord.HTTPException, *UNREACHABLE) as error:
        logger.warning("a stop could not be answered", channel=stop.channel_id, error=type(error).__name__)


def command_tree(client: discord.Client, stops: Stops) -> "app_commands.CommandTree[discord.Client]":
    """The bot's slash commands, bound to the client."""

    async def kill(interaction: "discord.Interaction[discord.Client]") -> None:
        if interaction.channel_id is None:
            return
        stop = kill_channel(
            channel_id=interaction.channel_id, interaction_id=interaction.id, user_id=interaction.user.id
        )
        await answer_stop(interaction, stops, stop)

    tree = app_commands.CommandTree(client)
    tree.add_command(
        app_commands.Command(
            name="kill", description="End all turns of this channel at once, the waiting ones too", callback=kill
        )
    )
    return tree


class StopButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=STOP_CUSTOM_ID):
    """The Stop button of any message, of this process or an earlier one: its custom id says which turn it stops."""

    def __init__(self, turn: str) -> None:
        super().__init__(discord.ui.Button(custom_id=stop_custom_id(turn)))
        self.turn = turn

    @classmethod
    async def from_custom_id(
        cls,
        interaction: "discord.Interaction[Any]",  # noqa: ARG003 - discord.py's signature
        item: "discord.ui.Item[Any]",  # noqa: ARG003 - discord.py's signature
        match: re.Match[str],
        /,
    ) -> Self:
        """The button behind a custom id that discord.py has matched."""
        return cls(match["turn"])

    async def callback(self, interaction: "discord.Interaction[Any]") -> None:
        """Stop the turn."""
        if interaction.channel_id is None:
            return
        client: HasStops = interaction.client
        stop = stop_turn(
            turn=self.turn,
            channel_id=interaction.channel_id,
            interaction_id=interaction.id,
            user_id=interaction.user.id,
        )
        await answer_stop(interaction, client.stops, stop)
