"""The stage of one world: what its processes, its people and its faults act upon, and the journal of what they did."""

from collections.abc import Callable
from random import Random

from schemas.topics import load_topics
from services.sandbox.simulation.cluster import Cluster
from services.sandbox.simulation.coordinator import Coordinator
from services.sandbox.simulation.discord import SimulatedDiscord
from services.sandbox.simulation.faults import FaultName, draw_plan
from services.sandbox.simulation.hosts import Host
from services.sandbox.simulation.loop import VirtualLoop
from services.sandbox.simulation.provider import SimulatedProvider
from services.sandbox.simulation.workers import GatewaySession

PARTITIONS = 2


class Stage:
    """Everything outside the processes, from one seed."""

    def __init__(self, seed: int, allowed: frozenset[FaultName]) -> None:
        self.seed = seed
        self.loop = VirtualLoop()
        self.dice = Random(f"world {seed}")
        self.plan = draw_plan(Random(f"plan {seed}"), allowed)
        self.topics = load_topics()
        self.cluster = Cluster(self.loop, self.topics, PARTITIONS, self.dice)
        self.coordinator = Coordinator(self.cluster)
        self.discord = SimulatedDiscord(self.cluster, self.plan.lost_answers)
        self.provider = SimulatedProvider(self.cluster, self.plan.provider_trouble)
        self.sessions: dict[Host, GatewaySession] = {}
        self.events: list[tuple[float, str]] = []

    def at(self, seconds: float, call: Callable[[], object]) -> None:
        """Call something as the world at a virtual time, at once where that has passed."""
        self.loop.call_later(max(0.0, seconds - self.loop.time()), call)

    def note(self, what: str) -> None:
        """Write down what happened, for the story."""
        self.events.append((self.loop.time(), what))
