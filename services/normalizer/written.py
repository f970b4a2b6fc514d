"""Which chunk batches stand in the inbox already, so that whoever takes a partition over need not write them again.

After a take-over the records of all open streams are read again from their start, and their batches are made again.
Writers repeat and readers drop, which is all that correctness needs: this guards against no fault, it saves. A copy that is
left out would have been byte-equal to the batch that was read here, since the same records give equal batches; and what is
read from the log is kept by the broker. So to know too little is always safe, and means only that a batch is written again:
after a read that failed, for batches that somebody who was thrown out writes later, for streams beyond MOST_STREAMS.

What can matter stands behind the event that caused the first record that the partition gives us: that one is the oldest
unfinished, so all batches of unfinished streams were written after it. No clock is asked. Only headers are looked
at, but for the first batch of each stream, which says whose stream it is: a batch of any other instance is none that we
would write.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from schemas.identities import batch_of_stream
from schemas.inbox import ChunkBatch
from schemas.raw import NOBODY
from schemas.registry import decode
from services.runtime.log import Log, LogRecord
from services.runtime.logs import get_logger
from services.runtime.loop_step import LoopStep

log = get_logger("normalizer")
READ_WITHIN_S = 15.0
"""For so long the streams of a partition wait for what is known of them."""

MOST_STREAMS = 4_096
"""Streams that are remembered a partition; beyond it the one that was found first is forgotten."""


def batch_id(batch: ChunkBatch) -> str:
    """The batch's id. An end of nobody's, told of a stream that we do not know, is no copy of that stream's first batch."""
    of_stream = batch_of_stream(batch.turn, batch.generation, batch.sequence)
    return f"{of_stream}:{NOBODY}" if batch.instance == NOBODY else of_stream


@dataclass(slots=True)
class _Prefix:
    """The batches of a stream that stand in the inbox without a gap: all below `next_sequence`."""

    instance: str
    next_sequence: int = 1


class Written:
    """The batches of one partition of the inbox. `known` is set when they are read, or cannot be."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        self.asked = False
        self._streams: OrderedDict[tuple[str, int], _Prefix] = OrderedDict()

    def __len__(self) -> int:
        return len(self._streams)

    def take(self, record: LogRecord) -> None:
        """Note a record of the inbox, in its order; what is no batch, or cannot be read, is the inbox's reader's affair."""
        try:
            headers = HeaderReader(record.headers)
            if headers.text("type") == ChunkBatch.__name__:
                self._note(headers, record)
        except BadRecord:
            return

    def _note(self, headers: HeaderReader, record: LogRecord) -> None:
        turn = headers.need("turn")
        generation, sequence = headers.need_number("generation"), headers.need_number("sequence")
        if headers.text("id") != batch_of_stream(turn, generation, sequence):
            return
        stream = self._streams.get((turn, generation))
        if stream is not None:
            if sequence == stream.next_sequence:
                stream.next_sequence += 1
        elif sequence == 0:
            _, batch = decode(record.headers, record.value)
            if isinstance(batch, ChunkBatch):
                self._streams[turn, generation] = _Prefix(batch.instance)
                if len(self._streams) > MOST_STREAMS:
                    self._streams.popitem(last=False)

    def holds(self, batch: ChunkBatch) -> bool:
        """Whether the batch stands in the inbox."""
        stream = self._streams.get((batch.turn, batch.generation))
        return stream is not None and stream.instance == batch.instance and batch.sequence < stream.next_sequence

    def forget(self, turn: str, generation: int) -> None:
        """The stream has ended here: none of its records counts any more."""
        self._streams.pop((turn, generation), None)


class InboxReader:
    """Reads partitions of the inbox into a `Written` each; `run` does the work."""

    def __init__(self, read: Log) -> None:
        self._log = read
        self._asked = asyncio.Event()
        self._wanted: dict[int, tuple[Written, int]] = {}

    def ask(self, partition: int, written: Written, cause: int | None) -> None:
        """Read, once, what was written for a partition's records; `cause` is that of the oldest unfinished one."""
        if written.asked:
            return
        written.asked = True
        if cause is None:
            written.known.set()
            return
        self._wanted[partition] = (written, cause)
        self._asked.set()

    async def run(self) -> None:
        """Read what is asked for; partitions that begin together share a read."""
        async with asyncio.TaskGroup() as reading:
            while True:
                await self._asked.wait()
                self._asked.clear()
                wanted, self._wanted = self._wanted, {}
                reading.create_task(self._read(wanted))

    async def _read(self, wanted: dict[int, tuple[Written, int]]) -> None:
        first = {partition: cause for partition, (_, cause) in wanted.items()}
        step = LoopStep()
        count = 0
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                async for record in self._log.read_to_end("inbox", tuple(wanted), first=first):
                    wanted[record.partition][0].take(record)
                    count += 1
                    await step.breathe()
        except Exception as error:
            log.warning("inbox not read, batches may be written again", error=type(error).__name__, often=True)
        finally:
            for written, _ in wanted.values():
                written.known.set()
        log.info("inbox read", first=first, records=count, streams=sum(len(written) for written, _ in wanted.values()))
