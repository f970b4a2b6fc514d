"""`discord-away`: Discord answers nobody for longer than it remembers nonces, while twenty turns stream.

In its last moments it shows what it is sent but does not answer. When it is back these texts are older than the nonces
that it remembers, so delivery has to look into the channels to see that they stand there.
"""

import asyncio

from services.sandbox.chaos.outages.outage import Outage
from services.sandbox.chaos.stage import Stage
from services.sandbox.discord.faults import Fault

_UNANSWERED_S = 0.5
_UNTIL_TOLD_S = 24 * 3_600.0


async def _go_away(stage: Stage) -> None:
    stage.discord.faults.add(Fault("POST", "/channels/*/messages", cut=True, apply=True, times=None))
    await asyncio.sleep(_UNANSWERED_S)
    stage.discord.go_away(_UNTIL_TOLD_S, "cut")


async def _come_back(stage: Stage) -> None:
    stage.discord.faults.clear()


DISCORD_AWAY = Outage(
    name="discord-away",
    about="Discord, REST and gateway, is away for --away seconds (360) while 20 turns stream",
    away_s=360.0,
    begin=_go_away,
    end=_come_back,
    tells=frozenset({"gateway", "delivery"}),
    broker=False,
).kind()
