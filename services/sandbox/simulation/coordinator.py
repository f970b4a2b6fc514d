"""The simulated group coordinator: eager rebalances, session timeouts, static members, generations, commits.

As measured on Kafka with aiokafka: every partition is revoked and assigned again on each change; a silent member is
evicted when its session ends; a static id that joins again takes its partitions over at once without a rebalance for the
others; a commit counts only from a member of the present generation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.sandbox.simulation.cluster import Cluster

SESSION_S = 6.0
REBALANCE_S = 10.0


@dataclass(slots=True)
class Member:
    """One member. `heard` is when its last heartbeat came; `joined` the generation that it has asked to be in."""

    member_id: str
    instance: str | None
    heard: float
    wants: int = 0
    assigned: frozenset[int] = frozenset()


@dataclass(slots=True)
class Group:
    """One group on one topic."""

    name: str
    topic: str
    generation: int = 0
    pending: bool = False
    pending_since: float = 0.0
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    committed: dict[int, int] = field(default_factory=dict[int, int])
    owners: dict[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True, slots=True)
class Joined:
    """A member's place in a generation."""

    member_id: str
    generation: int
    partitions: frozenset[int]


class Coordinator:
    """All groups of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._groups: dict[str, Group] = {}
        self._ids = 0
        self.ownership: list[tuple[float, str, int, str]] = []
        self.commits: list[tuple[float, str, str, int, int]] = []
        self.kept: list[tuple[float, str, int, str, float]] = []

    def group(self, name: str, topic: str) -> Group:
        """The group, made at its first use."""
        return self._groups.setdefault(name, Group(name, topic))

    def groups(self) -> Mapping[str, Group]:
        """All groups by name."""
        return self._groups

    def join(self, group: Group, instance: str | None, member_id: str | None) -> tuple[str, Joined | None]:
        """Ask to be a member. Returns the member id, and the place at once where no rebalance is needed."""
        self._expire(group)
        now = self._cluster.loop.time()
        if instance is not None and member_id is None:
            before = next((m for m in group.members.values() if m.instance == instance), None)
            if before is not None:
                del group.members[before.member_id]
                member = self._new(group, instance, now)
                member.assigned = before.assigned
                member.wants = group.generation + (1 if group.pending else 0)
                for partition in before.assigned:
                    self._own(group, partition, member.member_id)
                if not group.pending:
                    return member.member_id, Joined(member.member_id, group.generation, member.assigned)
                return member.member_id, None
        known = group.members.get(member_id or "")
        member = known or self._new(group, instance, now)
        member.heard = now
        if known is None or not group.pending:
            self._begin(group)
        member.wants = group.generation + 1
        return member.member_id, None

    def _new(self, group: Group, instance: str | None, now: float) -> Member:
        self._ids += 1
        member = Member(f"member-{self._ids}", instance, now)
        group.members[member.member_id] = member
        return member

    def _begin(self, group: Group) -> None:
        if not group.pending:
            group.pending = True
            group.pending_since = self._cluster.loop.time()

    def place(self, group: Group, member_id: str) -> Joined | str:
        """The member's place once the rebalance is complete; else `wait` or `unknown`."""
        self._expire(group)
        member = group.members.get(member_id)
        if member is None:
            return "unknown"
        member.heard = self._cluster.loop.time()
        if group.pending:
            waiting = [m for m in group.members.values() if m.wants != group.generation + 1]
            if waiting and self._cluster.loop.time() - group.pending_since < REBALANCE_S:
                return "wait"
            for late in waiting:
                del group.members[late.member_id]
            self._complete(group)
        return Joined(member_id, group.generation, member.assigned)

    def heartbeat(self, group: Group, member_id: str, generation: int) -> str:
        """`ok`, `rebalance` (join again), or `unknown` (evicted)."""
        self._expire(group)
        member = group.members.get(member_id)
        if member is None:
            return "unknown"
        member.heard = self._cluster.loop.time()
        return "rebalance" if group.pending or generation != group.generation else "ok"

    def commit(self, group: Group, member_id: str, generation: int, offsets: Mapping[int, int]) -> bool:
        """Take a commit from a member of the present generation."""
        self._expire(group)
        if member_id not in group.members or generation != group.generation:
            return False
        group.committed.update(offsets)
        now, name = self._cluster.loop.time(), group.name
        self.commits += [(now, name, group.topic, partition, offset) for partition, offset in offsets.items()]
        return True

    def leave(self, group: Group, member_id: str) -> None:
        """A member goes at once."""
        if group.members.pop(member_id, None) is not None:
            self._begin(group)

    def evict(self, group: Group, member_id: str) -> None:
        """Throw a member out, as if its session had ended."""
        self.leave(group, member_id)

    def _expire(self, group: Group) -> None:
        now = self._cluster.loop.time()
        for member in [m for m in group.members.values() if now - m.heard > SESSION_S]:
            del group.members[member.member_id]
            self._begin(group)

    def _complete(self, group: Group) -> None:
        """Assign so that members keep what they have where that is balanced."""
        group.pending = False
        group.generation += 1
        count = self._cluster.partitions(group.topic)
        members = sorted(group.members.values(), key=lambda m: m.member_id)
        if not members:
            return
        share, more = divmod(count, len(members))
        kept: dict[str, list[int]] = {}
        taken: set[int] = set()
        for member in members:
            own = sorted(p for p in member.assigned if p not in taken)
            kept[member.member_id] = own[: share + 1]
            taken.update(kept[member.member_id])
        big = sorted(members, key=lambda m: -len(kept[m.member_id]))
        for rank, member in enumerate(big):
            most = share + (1 if rank < more else 0)
            taken.difference_update(kept[member.member_id][most:])
            kept[member.member_id] = kept[member.member_id][:most]
        free = [p for p in range(count) if p not in taken]
        for rank, member in enumerate(big):
            most = share + (1 if rank < more else 0)
            while len(kept[member.member_id]) < most:
                kept[member.member_id].append(free.pop())
            member.assigned = frozenset(kept[member.member_id])
            for partition in member.assigned:
                self._own(group, partition, member.member_id)

    def _own(self, group: Group, partition: int, member_id: str) -> None:
        if group.owners.get(partition) != member_id:
            group.owners[partition] = member_id
            self.ownership.append((self._cluster.loop.time(), group.topic, partition, member_id))
