"""Snapshots: a channel's state with the inbox offset that it has settled, in the compacted topic `channels`.

The order is fixed, against the loss of outputs in a crash: outputs acknowledged, then the snapshot acknowledged, then the
commit. Of several snapshots the one with the highest settled offset counts, never the last one: a zombie's late write
stands behind its successor's.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from schemas.channels import ChannelSnapshot
from schemas.errors import BadRecord, UnknownRecordType
from schemas.registry import decode
from services.runtime.log import Log, LogRecord
from services.runtime.logs import get_logger
from services.runtime.loop_step import LoopStep

log = get_logger("snapshots")
TOPIC = "channels"

Restored = TypeVar("Restored")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Restored]):
    """What the snapshot that counts holds. `overtaken`: another stands behind it, which is all that compaction leaves."""

    restored: Restored
    settled: int
    overtaken: bool = False


async def load_snapshots(
    read: Log, partitions: Collection[int], restore: Callable[[ChannelSnapshot], Restored]
) -> dict[str, Loaded[Restored]]:
    """For each channel of the partitions the snapshot with the highest settled offset, of those that can be read.

    `restore` makes of a snapshot what the caller keeps, and raises BadRecord for one that it cannot read. Then the next
    best counts: an old state is nearer to the truth than none, though what was folded since and committed is missing.
    """
    best: dict[str, Loaded[Restored]] = {}
    refused: dict[str, tuple[int, str]] = {}
    last: dict[str, int | None] = {}
    step = LoopStep()
    async for record in read.read_to_end(TOPIC, partitions):
        if record.value is None:
            continue
        channel = (record.key or b"").decode("utf-8", "replace")
        last[channel] = None
        try:
            snapshot = _snapshot(record)
        except BadRecord as error:
            log.error("unreadable snapshot", partition=record.partition, offset=record.offset, reason=error.reason)
            continue
        last[channel] = snapshot.settled
        known = best.get(channel)
        if better(None if known is None else known.settled, snapshot.settled):
            try:
                best[channel] = Loaded(restore(snapshot), snapshot.settled)
            except BadRecord as error:
                last[channel] = None
                refused[channel] = max(refused.get(channel, (-1, "")), (snapshot.settled, str(error)))
        await step.breathe()
    for channel, (settled, detail) in refused.items():
        known = best.get(channel)
        if known is None or known.settled < settled:
            log.error(
                "snapshot not usable, the channel starts " + ("anew" if known is None else "from an older one"),
                channel=channel, detail=detail, settled=settled, older=None if known is None else known.settled,
            )  # fmt: skip
    return {
        channel: Loaded(loaded.restored, loaded.settled, overtaken=last[channel] != loaded.settled)
        for channel, loaded in best.items()
    }


def better(known: int | None, settled: int) -> bool:
    """Whether a snapshot that stands later in the log takes the place of the one that is known, by settled offsets."""
    return known is None or known < settled


def _snapshot(record: LogRecord) -> ChannelSnapshot:
    _, snapshot = decode(record.headers, record.value)
    if not isinstance(snapshot, ChannelSnapshot):
        raise UnknownRecordType(f"{type(snapshot).__name__} has no place in {TOPIC}")
    return snapshot
