"""`refusing-leader`: of two brokers one is killed, so the leaders on the other refuse every write, while turns stream.

Every topic has two copies and min.insync.replicas=2, the groups' offsets too, so a lone leader answers
NOT_ENOUGH_REPLICAS to what must not count yet. (With one copy Kafka 4 takes min.insync.replicas=2 for 1.) Those who must
say that they are not ready are those who write in any case: an orchestrator that gets no chunk has nothing to write.
"""

from services.sandbox.chaos.outages.outage import Outage
from services.sandbox.chaos.stage import Stage


async def _kill(stage: Stage) -> None:
    if stage.follower is not None:
        await stage.follower.kill()


async def _restart(stage: Stage) -> None:
    if stage.follower is not None:
        await stage.follower.restart()


REFUSING_LEADER = Outage(
    name="refusing-leader",
    about="one of two brokers is away for --away seconds (30), so the other refuses writes while 20 turns stream",
    away_s=30.0,
    begin=_kill,
    end=_restart,
    tells=frozenset({"provider", "normalizer"}),
    broker=False,
    two_brokers=True,
).kind()
