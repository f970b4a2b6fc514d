"""Which raw records of a stream count, by the rules that its reader follows, told anew without looking at their bytes.

The first instance that opens a stream counts, only the next sequence is taken, and the first end closes the stream.
"""

from dataclasses import dataclass, field

from schemas.raw import RawEnd, RawSlice
from services.sandbox.checking.reading import Read

StreamId = tuple[str, int]
"""(turn, generation)."""


@dataclass(slots=True)
class StreamView:
    """One stream. `counted` are its records that become batches, the k-th one batch k; `gaps` came behind a hole.

    `end` is the counted end. `whole`: it came without a hole before it. `broken`: the record at which the stream was
    given up, since it could not be handled. `instance`: whose records count; None where nobody but a watcher wrote.
    """

    id: StreamId
    raws: list[Read] = field(default_factory=list[Read])
    counted: list[Read] = field(default_factory=list[Read])
    dropped: list[Read] = field(default_factory=list[Read])
    gaps: list[Read] = field(default_factory=list[Read])
    end: Read | None = None
    whole: bool = True
    broken: Read | None = None
    instance: str | None = None
    batch_instance: str | None = None

    @property
    def closed(self) -> bool:
        """Nothing that comes from now on counts."""
        return self.end is not None or self.broken is not None

    @property
    def ending(self) -> str | None:
        """How the batches say that the stream ended."""
        if self.end is None or not isinstance(self.end.content, RawEnd):
            return None
        return self.end.content.ending if self.whole else "lost"

    def take(self, read: Read, *, refused: bool) -> None:
        """Take one raw record in partition order; `refused`: its reader put it into the dead letters."""
        content = read.content
        if not isinstance(content, RawSlice | RawEnd):
            return
        self.raws.append(read)
        if self.closed:
            self.dropped.append(read)
        elif refused:
            self.broken = read
        elif isinstance(content, RawSlice):
            self._slice(read, content)
        else:
            self._end(read, content)

    def _slice(self, read: Read, content: RawSlice) -> None:
        expected = len(self.counted)
        if self.batch_instance is None and content.sequence == 0:
            self.instance = self.batch_instance = content.origin.instance
        if content.origin.instance == self.batch_instance and content.sequence == expected:
            self.counted.append(read)
            return
        self.dropped.append(read)
        if content.origin.instance == self.batch_instance and content.sequence > expected:
            self.gaps.append(read)

    def _end(self, read: Read, content: RawEnd) -> None:
        expected = len(self.counted)
        if self.batch_instance is None:
            if content.sequence not in (None, 0):
                self.dropped.append(read)
                return
            self.batch_instance = content.origin.instance
            self.instance = None if content.sequence is None else content.origin.instance
        elif content.sequence is not None and content.origin.instance != self.batch_instance:
            self.dropped.append(read)
            return
        self.whole = content.sequence in (None, expected)
        if not self.whole:
            self.gaps.append(read)
        self.end = read
        self.counted.append(read)
