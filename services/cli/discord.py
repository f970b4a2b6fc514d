"""`odradek discord`: what a bot's owner does once at Discord."""

from typing import Annotated

import typer

_HELP = """Set the bot up at Discord: invite it, register its commands.

\b
Examples:
  odradek discord invite
"""
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_HELP)


@app.callback()
def group() -> None:
    """Set the bot up at Discord: invite it, register its commands."""


@app.command()
def invite(
    register: Annotated[
        bool, typer.Option("--register/--no-register", help="Register the slash commands, as global ones.")
    ] = True,
) -> None:
    """Print the link that invites the bot to a server, and register its slash commands with Discord.

    The link asks for the permissions that Odradek uses and no more. The token comes from ODRADEK_DISCORD_TOKEN.

    \b
    Examples:
      odradek discord invite
      odradek discord invite --no-register
    """
    from services.cli import discord_invite

    discord_invite.invite(register=register)
