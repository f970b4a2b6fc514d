"""GLM's notation of a tool call, read as it comes: whether it is one still, whether it is whole, its arguments as JSON.

Behind `<tool_call>`: the tool's name, then `<arg_key>key</arg_key>` and `<arg_value>value</arg_value>` for each argument,
then `</tool_call>`, with blanks between them (https://huggingface.co/zai-org/GLM-4.6/blob/main/chat_template.jinja). A
text stands bare, any other value is JSON. A key or a value goes up to the first token that ends it, whatever is in it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from schemas.parameter_types import JsonType, json_type
from schemas.prompts import KnownTool
from services.normalizer.decode import UNREADABLE
from services.normalizer.guards.pieces import held_from
from services.normalizer.unicode import clean

OPENING = "<tool_call>"
CLOSING = "</tool_call>"

_JSON_BLANKS = " \t\r\n"
_HEAD = re.compile(r"([ \t\r\n]*+)([A-Za-z0-9_.-]*+)")
_BLANKS = re.compile(r"[ \t\r\n]*+")

_Place = Literal["name", "between", "key", "after_key", "value", "end"]

_TOKENS: Mapping[_Place, Mapping[str, _Place]] = {
    "between": {"<arg_key>": "key", CLOSING: "end"},
    "key": {"</arg_key>": "after_key"},
    "after_key": {"<arg_value>": "value"},
    "value": {"</arg_value>": "between"},
}
"""What may come next, and where it leads to."""
_LONGEST = max(len(token) for tokens in _TOKENS.values() for token in tokens)


class KnownNames:
    """The tools by name, and every text that may become one of the names."""

    def __init__(self, tools: Sequence[KnownTool]) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.begun = frozenset(name[:end] for name in self.tools for end in range(len(name) + 1))


class GlmCall:
    """One call, from behind its opening token on. `name` is empty until it is read; `refused`: it is no call."""

    def __init__(self, names: KnownNames) -> None:
        self.name = ""
        self.refused = False
        self._names = names
        self._place: _Place = "name"
        self._read = 0
        self._start = 0
        self._spans: list[tuple[int, int]] = []

    @property
    def whole(self) -> bool:
        """The closing token was read."""
        return self._place == "end"

    def may_end(self, rest: str) -> bool:
        """Whether `rest`, all that came behind what was read, has begun the closing token and can become no other."""
        return self._place == "between" and rest.startswith(CLOSING[:2])

    def feed(self, text: str, start: int, end: int) -> int:
        """Read on from `start` to `end`, to the call's end, or to the first character that cannot stand there.

        Returns the index behind what was read; what is left before `end` may become a name or a token.
        """
        at = start
        place = None
        while place != self._place and not (self.whole or self.refused):
            place = self._place
            behind = self._named(text, at, end) if place == "name" else self._stepped(text, at, end)
            self._read += behind - at
            at = behind
        return at

    def arguments(self, body: str, *, whole: bool) -> str:
        """The arguments' JSON text; `body` is all that was read. Not `whole`: cut off behind the last that came in full."""
        texts = [clean(body[start:end]) for start, end in self._spans]
        # A key whose value never came has no partner.
        pairs = [self._pair(key.strip(), value) for key, value in zip(texts[::2], texts[1::2], strict=False)]
        # Without the comma behind it, a number might still go on.
        return f"{{{','.join(pairs)}}}" if whole else "{" + "".join(f"{pair}," for pair in pairs)

    def _named(self, text: str, at: int, end: int) -> int:
        head = _HEAD.match(text, at, end)
        blanks, name = head.groups() if head else ("", "")
        start = at + len(blanks)
        if start + len(name) == end:
            self.refused = name not in self._names.begun
            return start
        self.refused = name not in self._names.tools
        self.name = name
        self._place = "between"
        return start if self.refused else start + len(name)

    def _stepped(self, text: str, at: int, end: int) -> int:
        tokens = _TOKENS[self._place]
        if self._place in ("key", "value"):
            ((token, following),) = tokens.items()
            found = text.find(token, at, end)
            if found < 0:
                return held_from(text, at, end, tokens)
            self._spans.append((self._start, self._read + found - at))
            self._place = following
            return found + len(token)
        blanks = _BLANKS.match(text, at, end)
        start = blanks.end() if blanks else at
        for token, following in tokens.items():
            if text.startswith(token, start, end):
                behind = start + len(token)
                self._start = self._read + behind - at
                self._place = following
                return behind
        rest = text[start : min(end, start + _LONGEST)]
        self.refused = not any(token.startswith(rest) for token in tokens)
        return start

    def _pair(self, key: str, value: str) -> str:
        others = self._names.tools[self.name].texts.get(key)
        return f"{json.dumps(key, ensure_ascii=False)}:{_as_json(value, others)}"


def _as_json(value: str, others: Sequence[JsonType] | None) -> str:
    """The JSON that the value is, else the value as a text.

    `others` are the types that a text's parameter takes beside it: JSON of no other type is meant there. None: any.
    """
    if others is None or others:
        try:
            found = json_type(msgspec.json.decode(value))
        except UNREADABLE:
            found = None
        if found is not None and (others is None or found in others):
            return value.strip(_JSON_BLANKS)
    return json.dumps(value, ensure_ascii=False)
