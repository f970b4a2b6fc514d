"""Tool calls put together: pieces in, whole calls out, arguments parsed once at the end.

Nothing is guessed. Arguments that are not one JSON object are handed on as the text they were, marked as truncated, so
that nobody runs them.
"""

import json
from dataclasses import dataclass, field
from typing import Any, NoReturn

from schemas.chunks import FunctionCall
from services.normalizer.decode import UNREADABLE, is_object
from services.normalizer.events import ToolCallDelta
from services.normalizer.unicode import clean, clean_json


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    given: dict[str, Any] | None = None
    signature: str = ""


class ToolCalls:
    """The calls of one stream, in the order in which they began."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, delta: ToolCallDelta) -> None:
        """Take a piece; it costs the same however long the call is."""
        call = self._calls.setdefault(delta.slot, _Call())
        call.id = call.id or delta.id
        call.name = call.name or delta.name
        if delta.arguments:
            call.pieces.append(delta.arguments)
        if delta.given is not None:
            call.given = delta.given
        call.signature = call.signature or delta.signature

    def finished(self, *, complete: bool) -> list[FunctionCall]:
        """The calls that have a name.

        `complete`: the stream had its end mark, so a call without arguments has none. In a broken stream it may have
        lost them, and is marked as truncated.
        """
        return [
            _finished(call, position, complete=complete)
            for position, call in enumerate(self._calls.values())
            if call.name
        ]

    def nameless(self) -> bool:
        """Some call never got a name."""
        return any(not call.name for call in self._calls.values())


def _finished(call: _Call, position: int, *, complete: bool) -> FunctionCall:
    raw = clean("".join(call.pieces))
    args = _parsed(raw, call.given, complete=complete)
    return FunctionCall(
        id=clean(call.id) or f"call_{position}",
        name=clean(call.name),
        args=args or {},
        arguments_truncated=args is None,
        raw_arguments=raw if args is None else None,
        thought_signature=clean(call.signature) or None,
    )


def _parsed(raw: str, given: dict[str, Any] | None, *, complete: bool) -> dict[str, Any] | None:
    """The argument object; None when there is no telling what it is."""
    if not raw.strip():
        if given is None and not complete:
            return None
        value: Any = given or {}
    else:
        try:
            value = json.loads(raw, parse_constant=_refuse)
        except UNREADABLE:
            return None
    if value is None:
        return {}
    try:
        return clean_json(value) if is_object(value) else None
    except ValueError:
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
