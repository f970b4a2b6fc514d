"""The code before and after a simulated deployment: what its rules versions do. The new ones cut text elsewhere."""

from dataclasses import dataclass, replace

import msgspec

from schemas.chunks import ProcessedChunk, TextChunk
from services.normalizer import rules as normalizer
from services.normalizer.endings import Ending
from services.normalizer.stream import StreamNormalizer
from services.orchestrator import rules as orchestrator


@dataclass(frozen=True, slots=True)
class Code:
    """What orchestrators and normalizers carry; both know the same versions."""

    orchestrator: orchestrator.RulesByVersion
    normalizer: normalizer.RulesByVersion

    @property
    def stamp(self) -> int:
        """The newest version."""
        return max(self.orchestrator)


class _Halving(StreamNormalizer):
    """Gives the same text in other chunks, so that two versions never make equal batches of one stream."""

    def feed(self, data: bytes) -> list[ProcessedChunk]:
        return [half for chunk in super().feed(data) for half in _halves(chunk)]

    def flush(self, ending: Ending) -> list[ProcessedChunk]:
        return [half for chunk in super().flush(ending) for half in _halves(chunk)]


def _halves(chunk: ProcessedChunk) -> list[ProcessedChunk]:
    if not isinstance(chunk, TextChunk) or len(chunk.content) < 2:
        return [chunk]
    middle = len(chunk.content) // 2
    halves = (chunk.content[:middle], chunk.content[middle:])
    return [msgspec.structs.replace(chunk, content=half) for half in halves]


OLD = Code(orchestrator.RULES, normalizer.RULES)
_NEXT = OLD.stamp + 1
NEW = Code(
    {**orchestrator.RULES, _NEXT: replace(orchestrator.RULES[OLD.stamp], segment_limit=400, line_group=60)},
    {**normalizer.RULES, _NEXT: _Halving},
)
