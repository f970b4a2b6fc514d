"""Message shapes that some backends demand and others merely tolerate: strict chat-completion compatibility.

Role alternation and prefix completion are two switches, since they pull in opposite directions: a Claude behind an
OpenAI-shaped proxy wants the first and refuses the second, DeepSeek wants the second. With both off messages stay as they
are. The third rule of that page, media relocation, has no switch and stands in services.context.neutral.relocation.
"""

from collections.abc import Sequence
from typing import cast

from services.catalog.strict_flags import (
    api_family,
    provider_requires_alternation,
    provider_requires_prefix_completion,
)
from services.catalog.target import Target
from services.context.rendered import NativeValue

Message = dict[str, NativeValue]
"""One native message: `role`, `content` (a text, or a list of parts whose text parts are `{type: text, text}`), more."""

OPENING = "[System: The conversation began before this.]"
"""The synthetic user turn before a conversation that the model opens."""

_TOOL_WIRING = ("tool_calls", "tool_call_id")


def enforces_alternation(target: Target) -> bool:
    """Whether roles must alternate: the model's column says so, or the provider or its dialect demands it."""
    family = api_family(target.provider, target.dialect)
    if family == "anthropic" or provider_requires_alternation(target.provider):
        return True
    return family == "openai-compatible" and target.model.strict_role_alternation


def enables_prefix_completion(target: Target) -> bool:
    """Whether a trailing assistant turn is marked to be continued: the model's column or the provider says so."""
    if api_family(target.provider, target.dialect) != "openai-compatible":
        return False
    return provider_requires_prefix_completion(target.provider) or target.model.supports_prefix_completion


def alternate(messages: Sequence[Message]) -> list[Message]:
    """The messages with neighbours of one role merged, and a user's turn before a conversation that the model opens.

    Turns with tool wiring at their top level (`tool_calls`, `tool_call_id`) merge with nothing, so that no wiring is
    lost. System messages are no turns. Texts are joined by a newline; where one of the contents is a list, parts follow
    parts. The messages given are not changed.
    """
    out: list[Message] = []
    opened = False
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            out.append(message)
            continue
        if not opened and role == "assistant":
            out.append({"role": "user", "content": OPENING})
        opened = True
        last = out[-1] if out else None
        if last is not None and last["role"] == role and not _bears_tools(last) and not _bears_tools(message):
            out[-1] = {**last, **message, "content": _joined(last.get("content"), message.get("content"))}
        else:
            out.append(message)
    return out


def mark_prefix(messages: Sequence[Message]) -> list[Message]:
    """The messages, the last of which is to be continued, with `prefix: true` if it is the assistant's and bears no tools.

    https://api-docs.deepseek.com/guides/chat_prefix_completion
    """
    if not messages or messages[-1]["role"] != "assistant" or _bears_tools(messages[-1]):
        return [*messages]
    return [*messages[:-1], {**messages[-1], "prefix": True}]


def _bears_tools(message: Message) -> bool:
    return any(message.get(key) for key in _TOOL_WIRING)


def _joined(one: NativeValue, other: NativeValue) -> NativeValue:
    if not one or not other:
        return one or other
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: NativeValue) -> list[NativeValue]:
    if isinstance(content, list):
        return cast("list[NativeValue]", content)
    return [{"type": "text", "text": content}]
