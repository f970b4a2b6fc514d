"""Which stops are believed: those that lie under their own channel's key, and that no later message can be older than.

A channel-wide stop hits what is older than its own snowflake, and Discord makes that at the moment of the command. The
fault that this guards against: one forged or broken record with a snowflake of the far future ends every later turn of its
channel, and one under another key hits a channel whose readers never see it. The broker's append time says when the stop
came; a snowflake may be ahead of it by no more than `AHEAD_MS`, for clocks that differ: as long as stops are remembered.
"""

from schemas.discord import created_ms
from schemas.errors import BadRecord
from schemas.stops import ChannelTurns, StopRequested, TurnInterrupted
from services.runtime.log import LogRecord

AHEAD_MS = 10 * 60_000


class StopOfAnotherChannel(BadRecord):
    """The record's key is not the channel that the stop names."""

    reason = "stop_of_another_channel"


class StopFromTheFuture(BadRecord):
    """The stop's snowflake lies so far ahead that it would hit messages which are not written yet."""

    reason = "stop_from_the_future"


def check_stop(record: LogRecord, stop: StopRequested | TurnInterrupted) -> None:
    """Raise StopOfAnotherChannel or StopFromTheFuture for a stop that is not to be believed."""
    if record.key != stop.channel_id.encode():
        raise StopOfAnotherChannel(f"the stop names channel {stop.channel_id}, its key is another")
    if isinstance(stop, StopRequested) and isinstance(stop.target, ChannelTurns):
        ahead_ms = created_ms(stop.target.before) - record.timestamp_ms
        if ahead_ms > AHEAD_MS:
            raise StopFromTheFuture(f"the stop's snowflake is {ahead_ms // 1000} s ahead of its record")
