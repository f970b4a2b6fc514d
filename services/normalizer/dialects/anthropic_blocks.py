"""The content blocks of an Anthropic message: which call a block is, and what of it goes back to the provider.

https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking: thinking blocks are returned whole, with their
signature, and redacted ones as they are.
"""

from typing import Any

from schemas.chunks import ServerToolCall
from services.normalizer.decode import UNREADABLE, is_object, loads
from services.normalizer.dialects.anthropic_wire import Block
from services.normalizer.events import Event, ReplayPart, TextDelta, ThinkingDelta, ToolCallDelta

_SERVER_TOOLS = frozenset({"server_tool_use", "mcp_tool_use"})


class _Thinking:
    """A thinking block that grows."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.signature: list[str] = []

    def part(self) -> ReplayPart:
        return ReplayPart({"type": "thinking", "thinking": "".join(self.text), "signature": "".join(self.signature)})


class _ServerTool:
    """A call of a tool of the provider, whose input grows."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.pieces: list[str] = []

    def use(self) -> ServerToolCall:
        block = self.block
        given: Any = block.input
        if self.pieces:
            text = "".join(self.pieces)
            try:
                given = loads(text.encode("utf-8", "surrogatepass"))
            except UNREADABLE:
                given = text
        return ServerToolCall(id=block.id or "", type=block.type or "", name=block.name or "", args=given)


class Blocks:
    """The open blocks of one message. `slots`: the calls that we must run, by the index of their block."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self._thinking: dict[int, _Thinking] = {}
        self._server_tools: dict[int, _ServerTool] = {}
        self._calls = 0

    def open(self, index: int, block: Block, out: list[Event]) -> None:
        """A block begins; one that still stands at its index ends."""
        self.stop(index, out)
        if block.type == "text":
            if block.text:
                out.append(TextDelta(block.text))
        elif block.type == "thinking":
            self._thinking[index] = _Thinking()
            self.think(index, block.thinking, block.signature, out)
        elif block.type == "redacted_thinking":
            out.append(ReplayPart({"type": "redacted_thinking", "data": block.data or ""}))
        elif block.type == "tool_use":
            self.slots[index] = self._calls
            self._calls += 1
            given = block.input if is_object(block.input) and block.input else None
            text = block.input if isinstance(block.input, str) else ""
            out.append(ToolCallDelta(self.slots[index], block.id or "", block.name or "", text, given=given))
        elif block.type in _SERVER_TOOLS:
            self._server_tools[index] = _ServerTool(block)

    def think(self, index: int, text: str | None, signature: str | None, out: list[Event]) -> None:
        """A piece of a thinking block, or of its signature."""
        block = self._thinking.get(index)
        if block is None:
            block = self._thinking[index] = _Thinking()
        if text:
            block.text.append(text)
        if signature:
            block.signature.append(signature)
        if text or signature:
            out.append(ThinkingDelta(text or "", "raw", signature or ""))

    def grow_input(self, index: int, text: str) -> None:
        """A piece of the input of a tool of the provider; that of an unknown block is skipped."""
        tool = self._server_tools.get(index)
        if tool is not None:
            tool.pieces.append(text)

    def stop(self, index: int, out: list[Event]) -> None:
        """A block ends."""
        self.slots.pop(index, None)
        thinking = self._thinking.pop(index, None)
        if thinking is not None:
            out.append(thinking.part())
        tool = self._server_tools.pop(index, None)
        if tool is not None:
            out.append(tool.use())

    def close(self, out: list[Event]) -> None:
        """The blocks that never ended."""
        for index in [*self._thinking, *self._server_tools]:
            self.stop(index, out)
