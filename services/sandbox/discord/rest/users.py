"""Users, the application, guilds and their members."""

from services.sandbox.discord.entities import Guild
from services.sandbox.discord.errors import invalid_form, unknown_guild, unknown_user
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World


def _me(world: World, call: Call) -> JsonValue:
    del call
    return world.render.own_user(world.state.application)


def _application(world: World, call: Call) -> JsonValue:
    del call
    return world.render.application(world.state.application)


def _user(world: World, call: Call) -> JsonValue:
    user = world.state.users.get(call.id("user_id"))
    if user is None:
        raise unknown_user()
    return world.render.user(user)


def _open_dm(world: World, call: Call) -> JsonValue:
    recipient = str(call.fields().get("recipient_id") or "")
    user = world.state.users.get(int(recipient)) if recipient.isdigit() else None
    if user is None or user.bot:
        raise invalid_form(("recipient_id",), "INVALID_RECIPIENT", "Unknown recipient")
    return world.render.channel(world.open_dm(user))


def _guild_of(world: World, call: Call) -> Guild:
    guild = world.state.guilds.get(call.id("guild_id"))
    if guild is None:
        raise unknown_guild()
    return guild


def _guild(world: World, call: Call) -> JsonValue:
    return world.render.guild(_guild_of(world, call))


def _guilds(world: World, call: Call) -> JsonValue:
    del call
    return [{"id": str(guild.id), "name": guild.name, "features": []} for guild in world.state.guilds.values()]


def _guild_channels(world: World, call: Call) -> JsonValue:
    return [world.render.channel(world.state.channels[one]) for one in _guild_of(world, call).channel_ids]


def _member(world: World, call: Call) -> JsonValue:
    guild = _guild_of(world, call)
    user = guild.members.get(call.id("user_id"))
    if user is None:
        raise unknown_user()
    return world.render.member(guild, user)


ENDPOINTS = (
    Endpoint("GET", "/users/@me", _me, "me"),
    Endpoint("GET", "/users/@me/guilds", _guilds, "guilds"),
    Endpoint("POST", "/users/@me/channels", _open_dm, "dm-create"),
    Endpoint("GET", "/users/{user_id}", _user, "user"),
    Endpoint("GET", "/oauth2/applications/@me", _application, "application"),
    Endpoint("GET", "/applications/@me", _application, "application"),
    Endpoint("GET", "/guilds/{guild_id}", _guild, "guild", "guild_id"),
    Endpoint("GET", "/guilds/{guild_id}/channels", _guild_channels, "guild-channels", "guild_id"),
    Endpoint("GET", "/guilds/{guild_id}/members/{user_id}", _member, "member", "guild_id"),
)
