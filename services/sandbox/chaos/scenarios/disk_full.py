"""`disk-full`: the broker's disk fills up while twenty turns stream; Kafka then gives its log folder up and ends.

After a while space is made, and the broker is started again on what it has kept. The disk is a file system in memory, so
the scenario needs root.
"""

from services.sandbox.chaos.outages.outage import Outage
from services.sandbox.chaos.slots import KINDS
from services.sandbox.chaos.stage import Stage


async def _fill(stage: Stage) -> None:
    if stage.disk is not None:
        await stage.disk.fill()


async def _make_space(stage: Stage) -> None:
    if stage.disk is not None and stage.broker is not None:
        stage.disk.free()
        await stage.broker.restart()


DISK_FULL = Outage(
    name="disk-full",
    about="the broker's disk is full for --away seconds (30) while 20 turns stream; needs root",
    away_s=30.0,
    begin=_fill,
    end=_make_space,
    tells=frozenset(KINDS),
    broker=True,
    disk_mib=256,
).kind()
