"""Of several snapshots of a channel the one that has settled most counts, whichever was written last."""

from collections.abc import Callable
from typing import Any

from pydantic import JsonValue
from structlog.testing import capture_logs

from schemas.channels import ChannelSnapshot
from schemas.errors import InvalidValue
from services.runtime.log import NewRecord
from services.runtime.outputs import output
from services.runtime.snapshots import Loaded, load_snapshots


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
    found = await load_snapshots(log, [0], lambda loaded: loaded.state["mark"])
    assert found == {first: Loaded("highest", 7, overtaken=True), second: Loaded("alone", 0, overtaken=False)}


async def test_behind_a_snapshot_that_cannot_be_restored_the_next_best_counts(
    cluster: Any, channels_of: Callable[..., list[str]]
) -> None:
    log = await cluster.connect()
    sender = await cluster.sender(log)
    some, none = channels_of(0, 2)
    for record in (
        snapshot(some, 2, "older"),
        snapshot(some, 9, "broken"),
        snapshot(some, 5, "old"),
        snapshot(some, 8, "broken"),
        snapshot(none, 3, "broken"),
    ):
        await sender.send(record)

    def restore(loaded: ChannelSnapshot) -> JsonValue:
        if loaded.state["mark"] == "broken":
            raise InvalidValue("not to be read")
        return loaded.state["mark"]

    with capture_logs() as lines:
        found = await load_snapshots(log, [0], restore)
    assert found == {some: Loaded("old", 5, overtaken=True)}
    told = {(line["channel"], line["settled"], line["older"], line["event"]) for line in lines}
    assert told == {
        (some, 9, 5, "snapshot not usable, the channel starts from an older one"),
        (none, 3, None, "snapshot not usable, the channel starts anew"),
    }
