"""Snapshots: a channel's state with the inbox offset that it has settled, in the compacted topic `channels`.

The order is fixed, against the loss of outputs in a crash: outputs acknowledged, then the snapshot acknowledged, then the
commit. Of several snapshots the one with the highest settled offset counts, never the last one: a zombie's late write
stands behind its successor's.
"""

from collections.abc import Collection
from dataclasses import dataclass

from schemas.channels import ChannelSnapshot
from schemas.errors import BadRecord
from schemas.registry import decode
from services.runtime.log import Log
from services.runtime.logs import get_logger

log = get_logger("snapshots")
TOPIC = "channels"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The snapshot that counts. `overtaken`: a lower one stands behind it, which would be all that compaction leaves."""

    snapshot: ChannelSnapshot
    overtaken: bool


async def load_snapshots(read: Log, partitions: Collection[int]) -> dict[str, Loaded]:
    """For each channel of the partitions the snapshot with the highest settled offset."""
    best: dict[str, ChannelSnapshot] = {}
    last: dict[str, int] = {}
    async for record in read.read_to_end(TOPIC, partitions):
        if record.value is None:
            continue
        try:
            _, snapshot = decode(record.headers, record.value)
        except BadRecord as error:
            log.error("unreadable snapshot", partition=record.partition, offset=record.offset, reason=error.reason)
            continue
        if not isinstance(snapshot, ChannelSnapshot):
            log.error("not a snapshot", partition=record.partition, offset=record.offset)
            continue
        last[snapshot.channel_id] = snapshot.settled
        if better(best.get(snapshot.channel_id), snapshot):
            best[snapshot.channel_id] = snapshot
    return {channel: Loaded(snapshot, last[channel] != snapshot.settled) for channel, snapshot in best.items()}


def better(known: ChannelSnapshot | None, snapshot: ChannelSnapshot) -> bool:
    """Whether a snapshot that stands later in the log takes the place of the one that is known."""
    return known is None or known.settled < snapshot.settled
