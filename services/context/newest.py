"""Which generation of a channel is the newest of those that were read: no prompt is made for those given up for it.

A channel has one turn at a time and a turn one generation, so whoever asks for another one has given up all before. Which
one is newer says the inbox offset that caused it, not the place in the topic: a process that took itself for the owner
may write an old request once more behind newer ones.
"""

from collections.abc import Collection

from services.runtime.inbound import Inbound


class Newest:
    """The causes of the generations that wait, the highest of each channel; one without a cause always counts."""

    def __init__(self) -> None:
        self._causes: dict[int, dict[str, int]] = {}

    def arrived(self, inbound: Inbound) -> None:
        """A generation has been read; its time to be handled comes later."""
        cause = inbound.facts.cause
        if cause is None:
            return
        causes = self._causes.setdefault(inbound.record.partition, {})
        causes[inbound.facts.channel] = max(cause, causes.get(inbound.facts.channel, cause))

    def is_newest(self, inbound: Inbound) -> bool:
        """Whether nothing newer of the channel waits behind it; the newest one itself waits no more then."""
        causes = self._causes.get(inbound.record.partition, {})
        newest = causes.get(inbound.facts.channel)
        cause = inbound.facts.cause
        if newest is None or cause is None or cause > newest:
            return True
        if cause == newest:
            del causes[inbound.facts.channel]
            return True
        return False

    def drop(self, partitions: Collection[int]) -> None:
        """Forget what waited in the partitions."""
        for partition in partitions:
            self._causes.pop(partition, None)
