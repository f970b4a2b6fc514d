"""Ids as Discord makes them: milliseconds since 2015 in the upper bits, a counter in the lower 22.

Source: https://docs.discord.com/developers/reference#snowflakes
"""

from collections.abc import Callable

DISCORD_EPOCH_MS = 1_420_070_400_000
_COUNTER_BITS = 22


def made_at_ms(snowflake: int) -> int:
    """Unix time in milliseconds at which `snowflake` was made."""
    return (snowflake >> _COUNTER_BITS) + DISCORD_EPOCH_MS


def shard_of(guild_id: int, shard_count: int) -> int:
    """The shard that gets a guild's events."""
    return (guild_id >> _COUNTER_BITS) % shard_count


class Snowflakes:
    """Makes ids that are unique and increase, whatever the clock does."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._last = 0

    def make(self) -> int:
        self._last = max(self._last + 1, (self._now_ms() - DISCORD_EPOCH_MS) << _COUNTER_BITS)
        return self._last
