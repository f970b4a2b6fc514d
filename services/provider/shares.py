"""Who gets a stream next: fair shares for guilds, whoever asks how often.

A guild takes a stream only while it holds fewer than GENEROSITY times those that are free. So one that asks for
everything gets four fifths, two get four ninths each, and there is always room for the next to come, which waits for
nobody's stream to end. Of those that may, the one that holds fewest is next; of equals, the one that was served longest
ago. The rule is that of dynamic queue length thresholds for shared memory, https://doi.org/10.1109/90.664262.
"""

from collections import Counter, deque
from dataclasses import dataclass

GENEROSITY = 4


@dataclass(eq=False, slots=True)
class Ticket:
    """One wish for a stream, of one guild; `held` while it has one."""

    guild: str
    held: bool = False


class Shares:
    """The streams of a process, `most` at once, and the wishes for one."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[Ticket]] = {}

    def ask(self, guild: str) -> Ticket:
        """Wait for a stream, behind what the same guild asked for before."""
        ticket = Ticket(guild)
        self._waiting.setdefault(guild, deque()).append(ticket)
        return ticket

    def give(self) -> Ticket | None:
        """Give the next a stream; None where nobody may have one now."""
        if self._free < 1:
            return None
        may = [guild for guild in self._waiting if self._held[guild] < GENEROSITY * self._free]
        if not may:
            return None
        guild = min(may, key=self._held.__getitem__)
        queue = self._waiting.pop(guild)
        ticket = queue.popleft()
        if queue:
            self._waiting[guild] = queue
        ticket.held = True
        self._held[guild] += 1
        self._free -= 1
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give a stream back, or wait for none any more."""
        guild = ticket.guild
        if ticket.held:
            ticket.held = False
            self._free += 1
            self._held[guild] -= 1
            if not self._held[guild]:
                del self._held[guild]
            return
        queue = self._waiting[guild]
        queue.remove(ticket)
        if not queue:
            del self._waiting[guild]
