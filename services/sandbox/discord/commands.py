"""Slash commands: what the bot registers, and the data that a use of one carries.

Source: https://docs.discord.com/developers/interactions/application-commands
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic import JsonValue as PydanticJson

from services.sandbox.discord.jsontypes import JsonObject, JsonValue

_GROUPS = frozenset({1, 2})
_BY_ID = frozenset({6, 7})
_NUMBERS = {4: int, 10: float}


class CommandForm(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=32)]
    type: Annotated[int, Field(ge=1, le=4)] = 1
    description: Annotated[str, Field(max_length=100)] = ""
    options: Annotated[list[dict[str, PydanticJson]], Field(max_length=25)] = []

    def stored(self, command_id: int, application_id: int) -> JsonObject:
        return {
            "default_member_permissions": None,
            "dm_permission": True,
            "nsfw": False,
            "contexts": None,
            "integration_types": [0],
            **self.model_dump(mode="json"),
            "id": str(command_id),
            "application_id": str(application_id),
            "version": str(command_id),
        }


@dataclass(frozen=True, slots=True)
class Use:
    """The `data` of a use, and the ids of users and channels that its options name."""

    data: JsonObject
    named: tuple[int, ...]


def use_of(commands: Mapping[str, JsonObject], path: str, values: Mapping[str, JsonValue]) -> Use:
    """A use of `path`; raises LookupError for a command, a group or an option that is not registered."""
    name, *groups = path.split()
    command = commands.get(name)
    if command is None:
        raise LookupError(f"no command /{name} is registered; there are: {', '.join(commands) or 'none'}")
    declared: JsonValue = command.get("options")
    chain = list[JsonObject]()
    for group in groups:
        option = _option(declared, group)
        declared = option.get("options")
        chain.append({"name": group, "type": option["type"]})
    if any(option.get("type") in _GROUPS for option in _options(declared)):
        raise LookupError(f"/{path} is a group: name one of its commands")
    named = list[int]()
    used: list[JsonObject] = []
    for option_name, value in values.items():
        kind = _option(declared, option_name)["type"]
        used.append({"name": option_name, "type": kind, "value": _typed(kind, value)})
        if kind in _BY_ID:
            named.append(int(str(value)))
    for step in reversed(chain):
        used = [{**step, "options": used}]
    return Use({"id": command["id"], "name": name, "type": 1, "options": used}, tuple(named))


def _options(declared: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    if not isinstance(declared, Sequence):
        return ()
    return [option for option in declared if isinstance(option, Mapping)]


def _option(declared: JsonValue, name: str) -> Mapping[str, JsonValue]:
    for option in _options(declared):
        if option.get("name") == name:
            return option
    raise LookupError(f"no option or command {name!r} is registered here")


def _typed(kind: JsonValue, value: JsonValue) -> JsonValue:
    number = _NUMBERS.get(kind) if isinstance(kind, int) else None
    return value if number is None or isinstance(value, bool) else number(str(value))
