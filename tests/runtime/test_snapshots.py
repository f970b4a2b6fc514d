"""Of several snapshots of a channel the one that has settled most counts, whichever was written last."""

from collections.abc import Callable
from typing import Any

from schemas.channels import ChannelSnapshot
from services.runtime.log import NewRecord
from services.runtime.outputs import output
from services.runtime.snapshots import load_snapshots


def snapshot(channel: str, settled: int, mark: str = "") -> NewRecord:
    record = ChannelSnapshot(channel_id=channel, settled=settled, state_version=1, state={"mark": mark})
    return output("channels", record, channel=channel, event_id=f"snapshot:{channel}:{settled}")


async def test_the_highest_settled_snapshot_counts_and_what_cannot_be_read_is_passed_over(
    cluster: Any, note: Callable[..., NewRecord], channels_of: Callable[..., list[str]]
) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    first, second = channels_of(0, 2)
    elsewhere = channels_of(1, 1)[0]
    good = snapshot(first, 7, "highest")
    for record in (
        snapshot(first, 3),
        good,
        snapshot(second, 0, "alone"),
        snapshot(elsewhere, 99),
        note(first, 9, topic="channels"),
        NewRecord("channels", good.key, b"{not json", good.headers),
        NewRecord("channels", second.encode(), None, ()),
        snapshot(first, 5, "a zombie's"),
    ):
        await sender.send(record)
    found = await load_snapshots(log, [0])
    assert {name: (s.snapshot.settled, s.snapshot.state["mark"], s.overtaken) for name, s in found.items()} == {
        first: (7, "highest", True),
        second: (0, "alone", False),
    }
