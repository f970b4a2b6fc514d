"""The port through which a benchmark has worker processes: whoever runs it starts and ends them."""

from collections.abc import Collection, Mapping
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


class Guests(Protocol):
    """Processes that came to leave again."""

    async def leave(self) -> None:
        """Tell all of them to end, as an orderly stop does, and wait until they have."""
        ...


class Crew(Protocol):
    """All worker processes of one run; ended by whoever made the crew."""

    async def start(self, kind: str, count: int, environment: Mapping[str, str]) -> None:
        """Start `count` more processes of a kind, and wait until each says that it is ready."""
        ...

    async def guests(self, kinds: Collection[str], environment: Mapping[str, str]) -> Guests:
        """Start one more process of each kind, which are no members, and wait until each is ready."""
        ...

    def members(self, kind: str | None = None) -> tuple[Member, ...]:
        """The processes that run now, of one kind or of all."""
        ...
