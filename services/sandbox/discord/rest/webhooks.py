"""Webhooks of channels, and those with which an interaction is followed up."""

from services.sandbox.discord.forms import read_message
from services.sandbox.discord.jsontypes import JsonValue
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World


def _create(world: World, call: Call) -> JsonValue:
    channel = world.state.writable(call.id("channel_id"))
    webhook = world.webhooks.create(channel, world.bot, str(call.fields().get("name") or ""))
    return world.render.webhook(webhook)


def _of_channel(world: World, call: Call) -> JsonValue:
    channel = world.state.writable(call.id("channel_id"))
    return [world.render.webhook(webhook) for webhook in world.webhooks.of(channel)]


def _get(world: World, call: Call) -> JsonValue:
    return world.render.webhook(world.webhooks.get(call.id("webhook_id"), call.params.get("token")))


def _delete(world: World, call: Call) -> JsonValue:
    world.webhooks.delete(world.webhooks.get(call.id("webhook_id"), call.params.get("token")))
    return None


def _is_follow_up(world: World, call: Call) -> bool:
    return call.id("webhook_id") == world.state.application.id


def _execute(world: World, call: Call) -> JsonValue:
    token = call.params["token"]
    if _is_follow_up(world, call):
        interaction = world.interactions.by_token(token)
        form = read_message(call.body)
        return world.render.message(world.interactions.follow_up(interaction, form, call.uploads))
    webhook = world.webhooks.get(call.id("webhook_id"), token)
    message = world.webhooks.execute(webhook, read_message(call.body), call.uploads)
    return world.render.message(message) if call.flag("wait") else None


def _original(call: Call) -> int | None:
    return None if call.params["message_id"] == "@original" else call.id("message_id")


def _get_message(world: World, call: Call) -> JsonValue:
    if _is_follow_up(world, call):
        interaction = world.interactions.by_token(call.params["token"])
        return world.render.message(world.interactions.message(interaction, _original(call)))
    webhook = world.webhooks.get(call.id("webhook_id"), call.params["token"])
    return world.render.message(world.webhooks.message(webhook, call.id("message_id")))


def _edit_message(world: World, call: Call) -> JsonValue:
    if _is_follow_up(world, call):
        interaction = world.interactions.by_token(call.params["token"])
        message = world.interactions.message(interaction, _original(call))
        return world.render.message(world.interactions.edit(message, read_message(call.body), call.uploads))
    webhook = world.webhooks.get(call.id("webhook_id"), call.params["token"])
    message = world.webhooks.message(webhook, call.id("message_id"))
    return world.render.message(world.posting.edit(message, message.author, read_message(call.body), call.uploads))


def _delete_message(world: World, call: Call) -> JsonValue:
    if _is_follow_up(world, call):
        interaction = world.interactions.by_token(call.params["token"])
        world.posting.delete(world.interactions.message(interaction, _original(call)))
        return None
    webhook = world.webhooks.get(call.id("webhook_id"), call.params["token"])
    world.posting.delete(world.webhooks.message(webhook, call.id("message_id")))
    return None


_MESSAGE = "/webhooks/{webhook_id}/{token}/messages/{message_id}"

ENDPOINTS = (
    Endpoint("POST", "/channels/{channel_id}/webhooks", _create, "webhook-create", "channel_id"),
    Endpoint("GET", "/channels/{channel_id}/webhooks", _of_channel, "webhook-list", "channel_id"),
    Endpoint("GET", "/webhooks/{webhook_id}", _get, "webhook", "webhook_id"),
    Endpoint("DELETE", "/webhooks/{webhook_id}", _delete, "webhook", "webhook_id"),
    Endpoint("GET", "/webhooks/{webhook_id}/{token}", _get, "webhook", "webhook_id", open=True),
    Endpoint("DELETE", "/webhooks/{webhook_id}/{token}", _delete, "webhook", "webhook_id", open=True),
    Endpoint("POST", "/webhooks/{webhook_id}/{token}", _execute, "webhook-execute", "token", open=True),
    Endpoint("GET", _MESSAGE, _get_message, "webhook-message", "token", open=True),
    Endpoint("PATCH", _MESSAGE, _edit_message, "webhook-message", "token", open=True),
    Endpoint("DELETE", _MESSAGE, _delete_message, "webhook-message", "token", open=True),
)
