"""What the doctor finds about Discord: the token, the privileged intent, the commands."""

import asyncio
from collections.abc import AsyncIterator

import discord

from services.cli.discord_invite import PORTAL, reads_message_content
from services.cli.doctor_checks import Finding
from services.gateway.controls import command_tree
from services.gateway.stops import Stops
from services.runtime.discord import HOW_TO_SET_IT, UNREACHABLE, rest_client
from services.runtime.errors import OdradekError
from services.runtime.log import Appended, NewRecord
from services.runtime.settings import Settings


async def check_discord(settings: Settings) -> AsyncIterator[Finding]:
    """Whether Discord takes the token, lets the bot read messages, and knows its commands."""
    if settings.discord_token is None:
        # No failure: the local Discord of `odradek up` brings a token of its own.
        yield Finding(
            "discord token", "warn", "ODRADEK_DISCORD_TOKEN is not set", f"for the real Discord: {HOW_TO_SET_IT}"
        )
        return
    try:
        async with rest_client(settings) as client:
            yield Finding("discord token", "ok", f"it is {client.user}'s")
            application = await client.application_info()
            yield _intent(application.id, application.flags)
            yield await _commands(client)
    except OdradekError as error:
        yield Finding("discord token", "FAIL", str(error), error.remedy or "check ODRADEK_DISCORD_API and the network")
    except discord.HTTPException as error:
        yield Finding("discord", "FAIL", f"a request failed with status {error.status}", "try again later")
    except UNREACHABLE as error:
        detail = f"{settings.discord_api} does not answer ({type(error).__name__})"
        yield Finding("discord", "FAIL", detail, "check ODRADEK_DISCORD_API and the network")


def _intent(application_id: int, flags: discord.ApplicationFlags) -> Finding:
    if reads_message_content(flags):
        return Finding("discord intent", "ok", "MESSAGE CONTENT is on")
    return Finding(
        "discord intent",
        "FAIL",
        "the privileged intent MESSAGE CONTENT is off, so Discord refuses the gateway",
        f"switch on MESSAGE CONTENT INTENT at {PORTAL}/{application_id}/bot",
    )


async def _commands(client: discord.Client) -> Finding:
    tree = command_tree(client, Stops(_nowhere))
    known = {command.name for command in await tree.fetch_commands()}
    missing = sorted({command.name for command in tree.get_commands()} - known)
    if not missing:
        return Finding("discord commands", "ok", ", ".join(f"/{name}" for name in sorted(known)))
    names = ", ".join(f"/{name}" for name in missing)
    return Finding("discord commands", "warn", f"not registered: {names}", "run `odradek discord invite`")


def _nowhere(_: NewRecord) -> "asyncio.Future[Appended]":
    raise AssertionError("a client without a websocket gets no interactions")
