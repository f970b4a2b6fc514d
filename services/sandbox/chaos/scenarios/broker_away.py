"""`broker-away`: the only broker is killed and stays away, while twenty turns stream."""

from services.sandbox.chaos.outages.outage import Outage
from services.sandbox.chaos.slots import KINDS
from services.sandbox.chaos.stage import Stage


async def _kill(stage: Stage) -> None:
    if stage.broker is not None:
        await stage.broker.kill()


async def _restart(stage: Stage) -> None:
    if stage.broker is not None:
        await stage.broker.restart()


BROKER_AWAY = Outage(
    name="broker-away",
    about="the broker is killed and stays away for --away seconds (10) while 20 turns stream",
    away_s=10.0,
    begin=_kill,
    end=_restart,
    tells=frozenset(KINDS),
    broker=True,
).kind()
