"""The channels beside a hostile one: each asks, waits for its reply, and asks again; noted is the time to its first text."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.runners import TurnHangs, over
from services.sandbox.benchmark.stage import Stage
from services.sandbox.discord.entities import Channel, Guild, User

DELTAS = 3
INTERVAL_S = 0.005

Place = Literal["same partition", "same guild", "elsewhere"]
"""What a channel shares with the hostile one; one that shares both lies in the same partition."""


@dataclass(frozen=True, slots=True)
class Waited:
    """One turn: the seconds from its message in Discord to the first text of its reply there."""

    place: Place
    first_text_s: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One channel and who writes in it."""

    place: Place
    channel: Channel
    user: User


def settle_in(stage: Stage, count: int, *, partition: int, guild: Guild) -> tuple[Neighbour, ...]:
    """Channels in turns in the hostile channel's partition, in its guild, in both and in neither."""
    other_guild = stage.discord.world.add_guild("Elsewhere", ())
    made: list[Neighbour] = []
    for number in range(count):
        together, at_home = number % 3 == 0, number % 2 == 0
        lies_in = partition if together else (partition + 1 + number % (stage.partitions - 1)) % stage.partitions
        channel, user = stage.add_channel(lies_in, guild if at_home else other_guild)
        made.append(
            Neighbour("same partition" if together else "same guild" if at_home else "elsewhere", channel, user)
        )
    return tuple(made)


async def ask_for(
    stage: Stage, neighbours: Sequence[Neighbour], *, seconds: float, every_s: float, first_byte_s: float
) -> list[Waited]:
    """Let all of them ask for so long, none sooner than `every_s` after its last question.

    Every turn that was begun is waited for and counts, however late it comes; raises TurnHangs.
    """
    until_s = time.monotonic() + seconds
    waited: list[Waited] = []

    async def keep(neighbour: Neighbour, after_s: float) -> None:
        await asyncio.sleep(after_s)
        while (asked_s := time.monotonic()) < until_s:
            waited.append(Waited(neighbour.place, await _ask(stage, neighbour, first_byte_s)))
            await asyncio.sleep(max(0.0, asked_s + every_s - time.monotonic()))

    async with asyncio.TaskGroup() as group:
        for number, neighbour in enumerate(neighbours):
            group.create_task(keep(neighbour, every_s * number / len(neighbours)))
    return waited


async def _ask(stage: Stage, neighbour: Neighbour, first_byte_s: float) -> float:
    reply = make_reply(stage.next_number(), paragraphs=1, deltas_a_paragraph=DELTAS)
    turn_id, turn = stage.post(neighbour.channel, neighbour.user, Plan(reply, INTERVAL_S, first_byte_s=first_byte_s))
    await over(turn_id, turn)
    stage.forget(turn_id)
    if not turn.shown:
        raise TurnHangs(f"turn {turn_id} ended without its text", remedy="read the workers' logs")
    return turn.shown[0].at_s - turn.asked_s
