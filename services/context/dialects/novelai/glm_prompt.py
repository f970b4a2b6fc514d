"""A context as one prompt for GLM: role tags, tools and their calls as XML, and whether to think.

The form is that of the model's own template: https://huggingface.co/zai-org/GLM-4.6/blob/main/chat_template.jinja.
What people wrote cannot open a role of its own: tags in it are broken.
"""

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange
from services.context.dialects.novelai.items import Said
from services.context.dialects.shown import Eyes, Notes
from services.context.dialects.tool_results import answers, image_pieces, response_text
from services.context.json_text import json_text

ROLE_STOPS = ("<|user|>", "<|observation|>", "<|system|>")
THINK_END = "</think>"

_BEGIN = "[gMASK]<sop>"
_NO_THOUGHT = f"<think>{THINK_END}"
_TAG = re.compile(
    r"<(?=\|(?:system|user|assistant|observation|endoftext)\|>|sop>|/?(?:tool_(?:call|response)|arg_(?:key|value)|think)>)"
)
_MASK = re.compile(r"\[(?=gMASK\])")
_TOOLS = """# Tools

You can call these functions, one a line with its parameters as a JSON Schema:
<tools>
{tools}
</tools>

To call one, end your reply with its name and arguments in this form:
<tool_call>name
<arg_key>key</arg_key>
<arg_value>value</arg_value>
</tool_call>
A value that is not a text is JSON. You get the result between <tool_response> and </tool_response>."""


def glm_prompt(
    system: str,
    dialogue: Sequence[Said],
    history: Sequence[FunctionExchange],
    *,
    tools: Sequence[JsonValue],
    opening: str,
    thinks: bool,
    notes: Notes,
) -> str:
    """The prompt, which ends where the model goes on: after `opening`, if the reply has begun already.

    `thinks`: the model may think first. A reply that has begun is not thought about again.
    """
    thinks = thinks and not opening
    blocks = [_block("system", text) for text in (_tool_text(tools), unmarked(system)) if text]
    directive = "" if thinks else "/nothink"
    for one in dialogue:
        text = unmarked(one.text)
        blocks.append(_assistant(text) if one.role == "model" else _block("user", text + directive))
    for index, exchange in enumerate(history):
        blocks += _exchange(exchange, f"function_history[{index}]", notes)
    end = "<|assistant|>" if thinks else f"<|assistant|>\n{_NO_THOUGHT}\n{opening}"
    return "\n".join([f"{_BEGIN}{blocks[0]}" if blocks else _BEGIN, *blocks[1:], end])


def unmarked(text: str) -> str:
    """A text in which the template's own marks are broken by a space."""
    return _MASK.sub("[ ", _TAG.sub("< ", text))


def _block(role: str, text: str) -> str:
    return f"<|{role}|>\n{text}"


def _assistant(text: str) -> str:
    return _block("assistant", f"{_NO_THOUGHT}\n{text}")


def _tool_text(tools: Sequence[JsonValue]) -> str:
    lines = (unmarked(json_text(tool)) for tool in tools)
    return _TOOLS.format(tools="\n".join(lines)) if tools else ""


def _exchange(exchange: FunctionExchange, place: str, notes: Notes) -> list[str]:
    text = exchange.text.strip()
    said = [unmarked(text)] if text else []
    said += [_call(call) for call in exchange.calls]
    results = [
        f"<tool_response>\n{unmarked(response_text(result))}\n</tool_response>" for _, result in answers(exchange)
    ]
    blocks = [_assistant("\n".join(said)), _block("observation", "\n".join(results))]
    shown = [piece for piece in image_pieces(exchange, place, Eyes(images=False), notes) if isinstance(piece, str)]
    return [*blocks, _block("user", unmarked("\n".join(shown)))] if shown else blocks


def _call(call: FunctionCall) -> str:
    lines = [f"<tool_call>{call.name}"]
    for key, value in call.args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"<arg_key>{unmarked(key)}</arg_key>", f"<arg_value>{unmarked(text)}</arg_value>"]
    return "\n".join([*lines, "</tool_call>"])
