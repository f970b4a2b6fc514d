"""The port through which a benchmark has worker processes: whoever runs it starts and ends them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

KINDS = ("gateway", "context", "provider", "normalizer", "orchestrator", "delivery")
READS: Mapping[str, str] = {
    "context": "generations",
    "provider": "prompts",
    "normalizer": "raw",
    "orchestrator": "inbox",
    "delivery": "deliveries",
}
"""What each kind reads."""


@dataclass(frozen=True, slots=True)
class Member:
    """One worker process. `http` is the base URL of its health port."""

    kind: str
    pid: int
    http: str


class Crew(Protocol):
    """All worker processes of one run; ended by whoever made the crew."""

    async def start(self, kind: str, count: int, environment: Mapping[str, str]) -> None:
        """Start `count` more processes of a kind, and wait until each says that it is ready."""
        ...

    async def succeeded(self, member: Member) -> None:
        """Wait until another process is ready in the place of one that was told to end."""
        ...

    def members(self, kind: str | None = None) -> tuple[Member, ...]:
        """The processes that run now, of one kind or of all."""
        ...
