"""Which partitions count as kept over a rebalance: those that nobody else can have owned in between.

An eager group revokes and assigns every partition on each change, also on members that keep theirs. The fault that this
guards against: a member that was evicted comes back, finds its partitions assigned to it again, and goes on with state
that does not hold what another owner did meanwhile.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Membership:
    """A member's place in its group: the id that the coordinator gave it, and the group's generation."""

    member_id: str
    generation: int


def kept_partitions(
    before: Membership | None, now: Membership, had: frozenset[int], has: frozenset[int]
) -> frozenset[int]:
    """Of the partitions that a member `has` now those that it `had` without a break.

    There was no break if the member id is the same and the generation is the next one.
    """
    if before is None or before.member_id != now.member_id or before.generation + 1 != now.generation:
        return frozenset()
    return had & has
