"""Tool calls put together: pieces in, whole calls out, arguments parsed once at the end.

Nothing is guessed. Of arguments that were cut off, the entries that came in full are kept; of others that are not one
JSON object, none. Both are handed on as the text they were, too, and marked as truncated, so that nobody runs them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from schemas.chunks import FunctionCall, FunctionCallChunk
from services.normalizer.argument_recovery import parsed_arguments, recovered_arguments
from services.normalizer.events import ToolCallDelta
from services.normalizer.unicode import clean, clean_json

MAX_CALLS = 4_000
"""Calls of one reply, whether the provider told them or they were found in its text; people's turns have a few dozen."""


class _Call:
    """A call that grows."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.given: dict[str, Any] | None = None
        self.signature = ""


class FinishedCalls(NamedTuple):
    """`unreadable`: some call never got a name, or has arguments that are malformed and not merely cut off."""

    chunks: Sequence[FunctionCallChunk]
    unreadable: bool


NO_CALLS = FinishedCalls((), unreadable=False)


class ToolCalls:
    """The calls of one stream, in the order in which they began."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, delta: ToolCallDelta) -> bool:
        """Take a piece; it costs the same however long the call is. False, and nothing taken, for a call too many."""
        call = self._calls.get(delta.slot)
        if call is None:
            if len(self._calls) == MAX_CALLS:
                return False
            call = self._calls[delta.slot] = _Call()
        if delta.arguments:
            call.pieces.append(delta.arguments)
        elif delta.whole:
            call.pieces = [delta.whole]
        if delta.id and not call.id:
            call.id = delta.id
        if delta.name and not call.name:
            call.name = delta.name
        if delta.given is not None:
            call.given = delta.given
        if delta.signature and not call.signature:
            call.signature = delta.signature
        return True

    def finished(self, *, complete: bool) -> FinishedCalls:
        """All calls that have a name.

        `complete`: the stream had its end mark, so a call without arguments has none. In a broken stream it may have
        lost them, and is marked as truncated.
        """
        chunks: list[FunctionCallChunk] = []
        unreadable = False
        for position, call in enumerate(self._calls.values()):
            raw = clean("".join(call.pieces))
            found = _arguments(raw, call.given, complete=complete)
            unreadable = unreadable or found is None or not call.name
            if call.name:
                chunks.append(_finished(call, position, raw, found or _Arguments({}, truncated=True)))
        return FinishedCalls(chunks, unreadable)


def made_id(position: int) -> str:
    """The id of a call that the provider gave none, by its position among the calls of its stream."""
    return f"call_{position}"


class _Arguments(NamedTuple):
    args: dict[str, Any]
    truncated: bool


def _finished(call: _Call, position: int, raw: str, found: _Arguments) -> FunctionCallChunk:
    return FunctionCallChunk(
        function_call=FunctionCall(
            id=clean(call.id) or made_id(position),
            name=clean(call.name),
            args=found.args,
            arguments_truncated=found.truncated,
            raw_arguments=raw if found.truncated else None,
            thought_signature=clean(call.signature) or None,
        )
    )


def _arguments(raw: str, given: dict[str, Any] | None, *, complete: bool) -> _Arguments | None:
    """What can be said of the arguments; None when they are malformed."""
    if not raw.strip():
        return _held(given or {}, truncated=given is None and not complete)
    args = parsed_arguments(raw)
    if args is not None:
        return _held(args, truncated=False)
    args = recovered_arguments(raw)
    return None if args is None else _held(args, truncated=True)


def _held(args: dict[str, Any], *, truncated: bool) -> _Arguments | None:
    try:
        return _Arguments(clean_json(args), truncated)
    except ValueError:
        return None
