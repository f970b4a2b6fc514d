"""Channels and their messages."""

from services.sandbox.discord.entities import ChannelKind, Message
from services.sandbox.discord.errors import DiscordError, missing_permissions
from services.sandbox.discord.forms import read_message, within
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World

_PAGE = (1, 100)


def _channel(world: World, call: Call) -> JsonValue:
    return world.render.channel(world.state.readable(call.id("channel_id")))


def _message_of(world: World, call: Call) -> Message:
    return world.state.message(world.state.readable(call.id("channel_id")), call.id("message_id"))


def _create(world: World, call: Call) -> JsonValue:
    channel = world.state.writable(call.id("channel_id"))
    form = read_message(call.body)
    message = world.posting.send(channel, world.bot, form, call.uploads)
    payload = world.render.message(message)
    return payload if form.nonce is None else payload | {"nonce": form.nonce}


def _get(world: World, call: Call) -> JsonValue:
    return world.render.message(_message_of(world, call))


def _list(world: World, call: Call) -> JsonValue:
    limit = within(_PAGE, call.query.get("limit", "50"), "limit")
    page = world.posting.history(
        world.state.readable(call.id("channel_id")),
        before=call.query_id("before"),
        after=call.query_id("after"),
        around=call.query_id("around"),
        limit=limit,
    )
    return [world.render.message(message) for message in page]


def _edit(world: World, call: Call) -> JsonValue:
    message = _message_of(world, call)
    return world.render.message(world.posting.edit(message, world.bot, read_message(call.body), call.uploads))


def _delete(world: World, call: Call) -> JsonValue:
    message = _message_of(world, call)
    channel = world.state.channels[message.channel_id]
    if message.author is not world.bot:
        if channel.kind is ChannelKind.DM:
            raise DiscordError(403, 50003, "Cannot execute action on this channel type")
        if channel.denied is not None:
            raise missing_permissions()
    world.posting.delete(message)
    return None


def _typing(world: World, call: Call) -> JsonValue:
    world.type_as(world.bot, world.state.writable(call.id("channel_id")))
    return None


ENDPOINTS = (
    Endpoint("GET", "/channels/{channel_id}", _channel, "channel", "channel_id"),
    Endpoint("POST", "/channels/{channel_id}/messages", _create, "message-create", "channel_id"),
    Endpoint("GET", "/channels/{channel_id}/messages", _list, "message-list", "channel_id"),
    Endpoint("GET", "/channels/{channel_id}/messages/{message_id}", _get, "message", "channel_id"),
    Endpoint("PATCH", "/channels/{channel_id}/messages/{message_id}", _edit, "message-edit", "channel_id"),
    Endpoint("DELETE", "/channels/{channel_id}/messages/{message_id}", _delete, "message-delete", "channel_id"),
    Endpoint("POST", "/channels/{channel_id}/typing", _typing, "typing", "channel_id"),
)
