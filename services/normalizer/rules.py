"""How a stream's bytes become chunks, by rules version.

A stream that is read again after a deployment must give the chunks that it gave before: the orchestrator has shown text
by them. So a turn's stamp travels to `raw`, and the code carries the present version and at least the one before. New code
is deployed first, then the gateway's stamp is raised; a stream stamped with a version that this code does not know waits
for the code that does. One with an older stamp than these is read by the oldest of them.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from schemas.chunks import Dialect, ProcessedChunk
from schemas.prompts import KnownTool
from services.normalizer.endings import Ending
from services.normalizer.stream import StreamNormalizer


class Reading(Protocol):
    """One stream that is being read; see `services.normalizer.stream.StreamNormalizer`."""

    def feed(self, data: bytes) -> list[ProcessedChunk]:
        """The chunks that these bytes complete."""
        ...

    def flush(self, ending: Ending) -> list[ProcessedChunk]:
        """The chunks that remain at the stream's end."""
        ...


class Rules(Protocol):
    """Begins to read a stream."""

    def __call__(
        self,
        dialect: Dialect,
        model: str,
        /,
        *,
        provider: str = "",
        known_tools: Sequence[KnownTool] = (),
        http_status: int = 200,
        content_type: str = "",
    ) -> Reading:
        """See `services.normalizer.stream.StreamNormalizer`."""
        ...


RulesByVersion = Mapping[int, Rules]

RULES: RulesByVersion = {2: StreamNormalizer, 3: StreamNormalizer, 4: StreamNormalizer}
"""The same versions as those of the orchestrator; versions 3 and 4 change nothing here."""


class UnknownRules(Exception):
    """A stream has a rules version that this code does not carry."""

    def __init__(self, version: int, newest: int) -> None:
        super().__init__(f"the stream has rules version {version}, this code carries up to {newest}")
