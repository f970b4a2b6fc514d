"""How often a channel may do something that costs others: a burst at once, then one at a time at even distances."""

from collections import OrderedDict


class Pace:
    """`burst` times at once, then every `every_s` seconds; what is not used is saved up to the burst again.

    It is given the time, in seconds of any steady clock, and remembers only the channels that have not saved it all up.
    """

    def __init__(self, *, burst: int, every_s: float) -> None:
        self._every_s = every_s
        self._ahead_s = (burst - 1) * every_s
        self._saved_up: OrderedDict[str, float] = OrderedDict()

    def wait_s(self, channel: str, now_s: float) -> float:
        """How long the channel has to wait until its next time; 0 if it need not."""
        return max(0.0, self._saved_up.get(channel, now_s) - self._ahead_s - now_s)

    def took(self, channel: str, now_s: float) -> None:
        """The channel does it now."""
        self._saved_up[channel] = max(now_s, self._saved_up.get(channel, now_s)) + self._every_s
        self._saved_up.move_to_end(channel)
        while next(iter(self._saved_up.values())) <= now_s:
            self._saved_up.popitem(last=False)
