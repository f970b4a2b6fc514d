"""Lets one line of a kind pass in a while, and counts the rest: in an outage clients and retries repeat themselves.

What the libraries write is always held to it, their own loggers repeat each line 60 to 100 times a second while a broker is
away. Of our own lines only those that say `often=True`: a line that says what became of a turn is never left out.
"""

import logging
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, cast

REPEAT_S = 30.0
"""How long a line that has been written is not repeated; the next one says how many were left out, as `suppressed`."""

LIBRARIES = ("aiokafka", "discord", "aiohttp", "asyncio", "httpx")
_KINDS_KEPT = 1_000


@dataclass(slots=True)
class _Kind:
    written_s: float
    suppressed: int = 0


class Repeats(logging.Filter):
    """A filter of a handler. Two lines are of a kind if logger and message are the same, whatever is filled in."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str], _Kind] = {}

    @property
    def kinds(self) -> int:
        """How many kinds are remembered, 1,000 at most."""
        return len(self._kinds)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        kind = _kind(record)
        if kind is None:
            return True
        last = self._kinds.get(kind)
        if last is not None and 0 <= record.created - last.written_s < REPEAT_S:
            last.suppressed += 1
            return False
        if last is not None and last.suppressed:
            _tell(record, last.suppressed)
        if len(self._kinds) >= _KINDS_KEPT:
            self._kinds.clear()
        self._kinds[kind] = _Kind(record.created)
        return True


def _kind(record: logging.LogRecord) -> tuple[str, str] | None:
    """What the line is counted as; None for one that is always written."""
    if isinstance(record.msg, dict):
        event = _event(record)
        return (record.name, str(event.get("event"))) if event.pop("often", False) else None
    if record.name.startswith(LIBRARIES):
        return record.name, str(record.msg)
    return None


def _tell(record: logging.LogRecord, suppressed: int) -> None:
    if isinstance(record.msg, dict):
        _event(record)["suppressed"] = suppressed
    else:
        record.suppressed = suppressed


def _event(record: logging.LogRecord) -> MutableMapping[str, Any]:
    """structlog hands its whole event over as the message."""
    return cast("MutableMapping[str, Any]", record.msg)
