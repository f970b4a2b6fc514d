"""Recorded streams, cut into one read an event."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from schemas.chunks import Dialect
from services.runtime.errors import OdradekError

_EVENT_ENDS = re.compile(rb"\n\n|\r\r|\r\n\r\n")
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


class NoStreams(OdradekError):
    """There is nothing to measure with."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One stream. `pieces` are its bytes, one event each."""

    name: str
    pieces: tuple[bytes, ...]


def load_samples(directory: Path) -> dict[Dialect, list[Sample]]:
    """The streams `DIALECT/NAME.sse` of a directory. Raises NoStreams if there are none."""
    found: dict[Dialect, list[Sample]] = {
        dialect: [Sample(path.stem, _pieces(path.read_bytes())) for path in sorted(directory.glob(f"{dialect}/*.sse"))]
        for dialect in DIALECTS
    }
    samples: dict[Dialect, list[Sample]] = {dialect: streams for dialect, streams in found.items() if streams}
    if not samples:
        raise NoStreams(
            f"no recorded streams in {directory}",
            remedy="run this in a checkout of Odradek, or name a directory that has files DIALECT/NAME.sse",
        )
    return samples


def _pieces(raw: bytes) -> tuple[bytes, ...]:
    edges = [0, *(found.end() for found in _EVENT_ENDS.finditer(raw)), len(raw)]
    return tuple(raw[start:end] for start, end in itertools.pairwise(edges) if start < end)
