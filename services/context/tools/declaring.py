"""Tools in each dialect's words."""

import re
from collections.abc import Iterable
from typing import NamedTuple, assert_never

from schemas.chunks import Dialect
from schemas.context import ToolDeclaration
from schemas.prompts import KnownTool
from services.context.rendered import RenderWarning
from services.context.tools.google_schema import GOOGLE_PROPERTY, google_schema
from services.context.tools.keywords import MOST_TEXT, Schema
from services.context.tools.names import wire_name
from services.context.tools.schemas import ANTHROPIC_PROPERTY, SoundSchema, reason, sound_schema


class Declared(NamedTuple):
    """`native`: the value of the request's `tools`, empty without tools; for NovelAI what the prompt tells of them."""

    native: list[Schema]
    warnings: tuple[RenderWarning, ...]


def declare(tools: Iterable[ToolDeclaration], dialect: Dialect) -> Declared:
    """The tools under their wire names, with schemas as the dialect's providers take them, and what was lost.

    Of two tools with one wire name the first is declared.
    """
    native: list[Schema] = []
    warnings: list[RenderWarning] = []
    names: set[str] = set()
    for index, tool in enumerate(tools):
        name = wire_name(tool.name)
        if name in names:
            warnings.append(RenderWarning("tools_dropped", f"tools[{index}]", "another tool has its name"))
            continue
        names.add(name)
        sound = _parameters(tool.parameters, dialect)
        if sound.lost:
            warnings.append(RenderWarning("schema_rewritten", f"tools[{index}].parameters", reason(sound.lost)))
        if len(tool.description) > MOST_TEXT:
            warnings.append(
                RenderWarning("schema_rewritten", f"tools[{index}].description", "it was too long and was cut")
            )
        native.append(_declared(name, tool.description[:MOST_TEXT], sound.schema, dialect))
    if dialect == "google" and native:
        native = [{"functionDeclarations": [*native]}]
    return Declared(native, tuple(warnings))


def known_tools(plain: Iterable[Schema]) -> tuple[KnownTool, ...]:
    """What a reader of calls in the text must know of the tools, which are declared as a prompt tells of them."""
    return tuple(KnownTool.of(str(tool["name"]), tool["parameters"]) for tool in plain)


def _parameters(parameters: Schema, dialect: Dialect) -> SoundSchema:
    names: dict[Dialect, re.Pattern[str]] = {"anthropic": ANTHROPIC_PROPERTY, "google": GOOGLE_PROPERTY}
    sound = sound_schema(parameters, names.get(dialect))
    return google_schema(sound) if dialect == "google" else sound


def _declared(name: str, description: str, schema: Schema, dialect: Dialect) -> Schema:
    told: Schema = {"name": name, "description": description} if description else {"name": name}
    match dialect:
        case "openai-chat":
            return {"type": "function", "function": {**told, "parameters": schema}}
        case "openai-responses":
            # Strict mode would demand that every property is required and closed.
            return {"type": "function", **told, "parameters": schema, "strict": False}
        case "anthropic":
            return {**told, "input_schema": schema}
        case "google":
            # Google refuses an object without properties: a function without parameters states none.
            return {**told, "parameters": schema} if schema.get("properties") else told
        case "novelai":
            return {**told, "parameters": schema}
        case _:
            assert_never(dialect)
