"""The bot's first answer to an interaction."""

from services.sandbox.discord.entities import EPHEMERAL, LOADING, CallbackKind
from services.sandbox.discord.errors import invalid_form
from services.sandbox.discord.forms import read_message
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World


def _callback(world: World, call: Call) -> JsonValue:
    kind = call.fields().get("type")
    if not isinstance(kind, int) or kind not in set(CallbackKind):
        raise invalid_form(("type",), "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
    raw = call.fields().get("data")
    data = raw if isinstance(raw, dict) else {}
    answer = CallbackKind(kind)
    form = read_message({} if answer is CallbackKind.MODAL else data)
    interaction = world.interactions.answer(
        call.id("interaction_id"), call.params["token"], answer, form, data, call.uploads
    )
    if not call.flag("with_response"):
        return None
    told: JsonObject = {"id": str(interaction.id), "type": int(interaction.kind)}
    resource: JsonObject = {"type": int(answer)}
    message = interaction.channel.messages.get(interaction.original_id or 0)
    if message is not None:
        told["response_message_id"] = str(message.id)
        told["response_message_loading"] = bool(message.flags & LOADING)
        told["response_message_ephemeral"] = bool(message.flags & EPHEMERAL)
        if answer in (CallbackKind.MESSAGE, CallbackKind.UPDATE):
            resource["message"] = world.render.message(message)
    return {"interaction": told, "resource": resource}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/interactions/{interaction_id}/{token}/callback",
        _callback,
        "interaction-callback",
        "interaction_id",
        open=True,
    ),
)
