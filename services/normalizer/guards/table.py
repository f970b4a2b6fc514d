"""Which guards a stream has, and in which order.

Backends leak reasoning and calls into the text of chat completions, whoever serves them: OpenRouter, an OpenAI-compatible
service, a server of the user's own; NovelAI's completions have no other place for what GLM thinks and calls. What repairs
calls is else for a server of the user's own alone, whose provider is named `custom` or `custom:` and a connection's id.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count

import msgspec

from schemas.chunks import Dialect
from schemas.prompts import KnownTool
from services.normalizer.guards.gemma_calls import GemmaToolCalls
from services.normalizer.guards.glm_calls import GlmToolCalls
from services.normalizer.guards.guard import Guard, Guards
from services.normalizer.guards.reasoning_spill import ReasoningContentSpillGuard
from services.normalizer.guards.think_blocks import ThinkBlockContentStripper
from services.normalizer.guards.verbatim_calls import VerbatimToolCallParser


class _Stream(msgspec.Struct, frozen=True):
    """What guards are made with. `slots`: of the calls that they find; the dialects' own begin at 0 and go up."""

    known_tools: Sequence[KnownTool]
    slots: Iterator[int]


class _Row(msgspec.Struct, frozen=True):
    """`custom`: only for a custom provider. `tools`: only where there are known tools."""

    dialects: frozenset[Dialect]
    make: Callable[[_Stream], Guard]
    custom: bool = False
    tools: bool = False


_CHAT: frozenset[Dialect] = frozenset({"openai-chat"})

_NOVELAI: frozenset[Dialect] = frozenset({"novelai"})

_THINKING_IN_TEXT: frozenset[Dialect] = _CHAT | _NOVELAI

_ROWS = (
    _Row(_THINKING_IN_TEXT, lambda _: ThinkBlockContentStripper()),
    _Row(_CHAT, lambda _: ReasoningContentSpillGuard()),
    _Row(_NOVELAI, lambda stream: GlmToolCalls(stream.known_tools, stream.slots), tools=True),
    _Row(_CHAT, lambda stream: GemmaToolCalls(stream.slots), custom=True),
    _Row(_CHAT, lambda stream: VerbatimToolCallParser(stream.known_tools, stream.slots), custom=True, tools=True),
)
"""In the order in which they read: thoughts leave the text before calls are looked for in it."""

_GUARDED = frozenset[Dialect]().union(*[row.dialects for row in _ROWS])


def guards_for(dialect: Dialect, provider: str = "", known_tools: Sequence[KnownTool] = ()) -> Guards | None:
    """The guards of one stream; None where it has none.

    `known_tools` is empty unless the model is one that writes its calls out and these tools were offered to it.
    """
    if dialect not in _GUARDED:
        return None
    rows = _rows_for(dialect, provider.partition(":")[0] == "custom", bool(known_tools))
    if not rows:
        return None
    stream = _Stream(known_tools, count(-1, -1))
    return Guards([row.make(stream) for row in rows])


@cache
def _rows_for(dialect: Dialect, is_custom: bool, has_tools: bool) -> Sequence[_Row]:
    """Kept, since a stream of ten events is read in less time than the table; there are twenty answers."""
    return [
        row
        for row in _ROWS
        if dialect in row.dialects and (is_custom or not row.custom) and (has_tools or not row.tools)
    ]
