"""The bot's global application commands."""

from collections.abc import Sequence

from services.sandbox.discord.commands import CommandForm
from services.sandbox.discord.errors import invalid_form, missing_access, unknown_command
from services.sandbox.discord.forms import read_form
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.rest.endpoint import Call, Endpoint
from services.sandbox.discord.world import World

_COMMANDS_LIMIT = 100


def _check_own(world: World, call: Call) -> None:
    if call.id("application_id") != world.state.application.id:
        raise missing_access()


def _stored(world: World, form: CommandForm) -> JsonObject:
    earlier = world.interactions.commands.get(form.name)
    command_id = world.state.snowflakes.make() if earlier is None else int(str(earlier["id"]))
    return form.stored(command_id, world.state.application.id)


def _list(world: World, call: Call) -> JsonValue:
    _check_own(world, call)
    return list(world.interactions.commands.values())


def _overwrite(world: World, call: Call) -> JsonValue:
    _check_own(world, call)
    body = call.body
    if not isinstance(body, Sequence) or isinstance(body, str):
        raise invalid_form((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if len(body) > _COMMANDS_LIMIT:
        raise invalid_form((), "BASE_TYPE_BAD_LENGTH", f"Must be {_COMMANDS_LIMIT} or fewer in length.")
    commands = [_stored(world, read_form(CommandForm, item)) for item in body]
    world.interactions.commands = {str(command["name"]): command for command in commands}
    return commands


def _create(world: World, call: Call) -> JsonValue:
    _check_own(world, call)
    form = read_form(CommandForm, call.body)
    commands = world.interactions.commands
    if form.name not in commands and len(commands) >= _COMMANDS_LIMIT:
        raise invalid_form(
            (), "APPLICATION_COMMANDS_MAXIMUM", f"Maximum number of commands reached ({_COMMANDS_LIMIT})"
        )
    command = commands[form.name] = _stored(world, form)
    return command


def _delete(world: World, call: Call) -> JsonValue:
    _check_own(world, call)
    wanted = call.params["command_id"]
    for name, command in world.interactions.commands.items():
        if command["id"] == wanted:
            del world.interactions.commands[name]
            return None
    raise unknown_command()


ENDPOINTS = (
    Endpoint("GET", "/applications/{application_id}/commands", _list, "commands"),
    Endpoint("PUT", "/applications/{application_id}/commands", _overwrite, "commands"),
    Endpoint("POST", "/applications/{application_id}/commands", _create, "commands"),
    Endpoint("DELETE", "/applications/{application_id}/commands/{command_id}", _delete, "commands"),
)
