"""The invitation of the bot: its link, the intent to switch on, and its commands."""

import asyncio

import discord

from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.gateway.commands import register_commands
from services.runtime.discord import UNREACHABLE, rest_client
from services.runtime.errors import Unavailable
from services.runtime.settings import Settings

BOUND_S = 20.0
PORTAL = "https://discord.com/developers/applications"
PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    embed_links=True,
    attach_files=True,
    external_emojis=True,
    add_reactions=True,
)


def reads_message_content(flags: discord.ApplicationFlags) -> bool:
    """Whether the application may see what messages say: the intent is switched on in Discord's portal.

    https://discord.com/developers/docs/resources/application#application-object-application-flags
    """
    return flags.gateway_message_content or flags.gateway_message_content_limited


def invite(*, register: bool) -> None:
    """Print the link, register the commands unless told not to, and say what remains to be done."""
    settings = load_settings()
    for line in run(settings, _invite(settings, register=register)):
        print(printable(line))


async def _invite(settings: Settings, *, register: bool) -> list[str]:
    try:
        async with asyncio.timeout(BOUND_S), rest_client(settings) as client:
            application = await client.application_info()
            lines = [discord.utils.oauth_url(application.id, permissions=PERMISSIONS)]
            if register:
                names = await register_commands(client)
                lines.append(f"registered: {', '.join(f'/{name}' for name in names)}")
    except discord.HTTPException as error:
        raise Unavailable("discord", f"the request failed with status {error.status} (code {error.code})") from error
    except UNREACHABLE as error:
        raise Unavailable("discord", f"{settings.discord_api} does not answer ({type(error).__name__})") from error
    if reads_message_content(application.flags):
        lines.append("the privileged intent MESSAGE CONTENT is on")
    else:
        lines.append(
            f"to do: switch on MESSAGE CONTENT INTENT at {PORTAL}/{application.id}/bot; without it nothing starts"
        )
    return lines
