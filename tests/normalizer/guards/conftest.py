"""What the guards' tests share: texts through a guard, and what came out joined by kind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.normalizer.events import Event, TextDelta, ThinkingDelta, ToolCallDelta
from services.normalizer.guards.guard import Guard


@dataclass
class Outcome:
    """`runs`: text and thinking in their order, neighbours of one kind joined."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    runs: list[tuple[str, str]] = field(default_factory=list)

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case TextDelta(text):
                    self.text += text
                    self._run("text", text)
                case ThinkingDelta(text):
                    self.thinking += text
                    self._run("thinking", text)
                case ToolCallDelta():
                    self.calls.append((event.name, event.arguments))
                    self._run("call", event.name)
                case _:
                    pass

    def _run(self, kind: str, text: str) -> None:
        if self.runs and self.runs[-1][0] == kind != "call":
            self.runs[-1] = (kind, self.runs[-1][1] + text)
        else:
            self.runs.append((kind, text))


def through(guard: Guard, pieces: Iterable[str | Event]) -> Outcome:
    outcome = Outcome()
    out: list[Event] = []
    for piece in pieces:
        guard.read(TextDelta(piece) if isinstance(piece, str) else piece, out)
    guard.close(out)
    outcome.add(out)
    return outcome


@pytest.fixture(scope="session")
def guarded() -> Callable[[Any, Iterable[Any]], Outcome]:
    """Send deltas (a string is text) through a new guard to its end."""
    return through
