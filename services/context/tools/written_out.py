"""Tools for a model that writes its calls as text: its prompt tells of them, and its calls are said again as it writes them.

The request offers the tools natively too, since such a server may take them or not. Calls are looked for in the text of
custom endpoints' chat completions alone (services.normalizer.guards.table), so no other model is asked for any there.
"""

from dataclasses import dataclass
from typing import cast

from schemas.chunks import FunctionCall
from schemas.context import NeutralContext, StructuredContextItem, TextPart
from schemas.prompts import KnownTool
from services.catalog.target import Target
from services.context.json_text import json_text
from services.context.tools.declaring import declare, known_tools
from services.context.tools.keywords import Schema

_TOOLS = """# Tools

You can call these functions, one a line with its parameters as a JSON Schema:
<tools>
{tools}
</tools>

To call one, end your reply with its name, and its arguments as one JSON object in parentheses:
name({{"key": "value"}})
You get the result in the next message. Whatever you write in this form is run."""


@dataclass(frozen=True, slots=True)
class Told:
    """The context whose system text tells of the tools, and what a reader of the calls must know of them; empty: none."""

    context: NeutralContext
    known: tuple[KnownTool, ...] = ()


def writes_calls(target: Target) -> bool:
    """Whether the model calls tools by text that is read as calls."""
    model = target.model
    is_read = target.provider == "custom" and target.dialect == "openai-chat"
    return is_read and model.verbatim_tool_calling and model.has_tools


def told_of_tools(context: NeutralContext, target: Target) -> Told:
    """The context as it is, unless the model writes its calls and tools are on offer."""
    if not (writes_calls(target) and context.options.tools_enabled and context.tools):
        return Told(context)
    plain = [cast(Schema, tool["function"]) for tool in declare(context.tools, target.dialect).native]
    text = _TOOLS.format(tools="\n".join(map(json_text, plain)))
    item = StructuredContextItem(role="system", parts=(TextPart(text=text),), tag="system_function_guide")
    return Told(context.model_copy(update={"items": (*context.items, item)}), known_tools(plain))


def call_text(call: FunctionCall) -> str:
    """A call as the prompt asks for it."""
    return f"{call.name}({json_text(call.args)})"
