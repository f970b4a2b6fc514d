"""How far each channel has been read: the newest message seen, and the newest one that was addressed to the bot."""

from collections import OrderedDict
from dataclasses import dataclass

_CHANNELS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Watermark:
    """`seen` and `addressed` are message ids; everything up to `seen` has been decided upon."""

    channel_id: int
    guild_id: int | None
    seen: int
    addressed: int


class Watermarks:
    """The channels in which the bot was addressed; the least recently addressed are forgotten beyond 10,000."""

    def __init__(self) -> None:
        self._marks: OrderedDict[int, Watermark] = OrderedDict()

    def saw(self, channel_id: int, guild_id: int | None, message_id: int, *, addressed: bool) -> None:
        """A message of the channel has been decided upon."""
        old = self._marks.get(channel_id)
        if not addressed:
            if old is not None and message_id > old.seen:
                self._marks[channel_id] = Watermark(channel_id, guild_id, message_id, old.addressed)
            return
        seen, last = (
            (message_id, message_id) if old is None else (max(old.seen, message_id), max(old.addressed, message_id))
        )
        self._marks[channel_id] = Watermark(channel_id, guild_id, seen, last)
        self._marks.move_to_end(channel_id)
        if len(self._marks) > _CHANNELS_KEPT:
            self._marks.popitem(last=False)

    def of(self, channel_id: int) -> Watermark | None:
        """The channel's mark, None for one in which the bot was not addressed."""
        return self._marks.get(channel_id)

    def latest(self, count: int) -> list[Watermark]:
        """The channels in which the bot was addressed last, the newest first."""
        newest = sorted(self._marks.values(), key=lambda mark: mark.addressed, reverse=True)
        return newest[:count]


def shard_of(guild_id: int | None, shard_count: int) -> int:
    """The shard that gets a channel's events; direct messages go to shard 0.

    https://discord.com/developers/docs/events/gateway#sharding
    """
    return 0 if guild_id is None else (guild_id >> 22) % shard_count
