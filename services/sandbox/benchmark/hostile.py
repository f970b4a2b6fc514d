"""The hostile channel: what it does, until it is told to stop, to the workers that it shares with other channels."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field

from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.stage import Stage, Turn
from services.sandbox.discord.entities import Channel, Guild, User
from services.sandbox.discord.faults import Fault

HOUR_S = 3_600.0
FLOOD = 1_000
FLOOD_S = 1.0
FLOOD_STEPS = 100
ASKS_EVERY_S = 0.1
HANGS_EVERY_S = 0.5
PEOPLE = 50


@dataclass
class Hostile:
    """One channel of the kind, fresh for each phase. `posted` counts its messages."""

    stage: Stage
    channel: Channel
    people: tuple[User, ...]
    first_byte_s: float
    posted: int = 0
    _turns: list[str] = field(default_factory=list[str])

    def post(self, number: int, *, silent: bool = False, endless: bool = False) -> Turn:
        """One of the people asks."""
        plan = Plan(
            make_reply(self.stage.next_number(), paragraphs=1),
            0.005,
            silent,
            first_byte_s=self.first_byte_s,
            endless=endless,
        )
        turn_id, turn = self.stage.post(self.channel, self.people[number % len(self.people)], plan)
        self._turns.append(turn_id)
        self.posted += 1
        return turn

    def forget(self) -> None:
        """Drop all turns."""
        for turn_id in self._turns:
            self.stage.forget(turn_id)


Conduct = Callable[[Hostile], Coroutine[None, None, None]]


@dataclass(frozen=True, slots=True)
class Hostility:
    """One way to be hostile. `refused`: the calls of Discord's that answer 429 for this channel, as method and path."""

    name: str
    what: str
    conduct: Conduct
    refused: tuple[tuple[str, str], ...] = ()
    people: int = PEOPLE


async def _goes_on_asking(hostile: Hostile) -> None:
    while True:
        hostile.post(0)
        await asyncio.sleep(ASKS_EVERY_S)


async def _asks_for_the_endless(hostile: Hostile) -> None:
    while True:
        await hostile.post(0, endless=True).over.wait()


async def _asks_for_silence(hostile: Hostile) -> None:
    number = 0
    while True:
        hostile.post(number, silent=True)
        number += 1
        await asyncio.sleep(HANGS_EVERY_S)


async def _floods(hostile: Hostile) -> None:
    began_s = time.monotonic()
    for step in range(FLOOD_STEPS):
        for number in range(FLOOD // FLOOD_STEPS):
            hostile.post(step * FLOOD // FLOOD_STEPS + number)
        await asyncio.sleep(max(0.0, began_s + FLOOD_S * (step + 1) / FLOOD_STEPS - time.monotonic()))


HOSTILITIES = (
    Hostility(
        "refused_messages",
        "Discord answers its messages and typing with 429 and an hour to wait; one person asks ten times a second",
        _goes_on_asking,
        (("POST", "messages"), ("POST", "typing")),
        people=1,
    ),
    Hostility(
        "refused_history",
        "Discord answers all calls for it with 429 and an hour to wait; one person asks ten times a second",
        _goes_on_asking,
        (("*", "*"),),
        people=1,
    ),
    Hostility(
        "endless_stream",
        "its provider writes for ever, as fast as it is read; it asks again as soon as the turn is ended",
        _asks_for_the_endless,
    ),
    Hostility("hanging_stream", "its provider never answers; it asks twice a second", _asks_for_silence),
    Hostility("flood_by_many", f"{FLOOD:,} messages by {PEOPLE} people within a second", _floods),
    Hostility("flood_by_one", f"{FLOOD:,} messages by one person within a second", _floods, people=1),
)


@contextlib.asynccontextmanager
async def raging(
    stage: Stage, hostility: Hostility, *, partition: int, guild: Guild, first_byte_s: float
) -> AsyncGenerator[Hostile]:
    """A hostile channel at work. At the end it is killed, its faults are gone, and the caller lets things calm down.

    `forget` it then: what is still on its way must find its plans.
    """
    channel, first = stage.add_channel(partition, guild)
    world = stage.discord.world
    people = (first, *(world.add_user(f"{channel.name}-{n}") for n in range(1, hostility.people)))
    hostile = Hostile(stage, channel, people, first_byte_s)
    faults = [
        stage.discord.faults.add(
            Fault(method, f"/channels/{channel.id}/{path}", status=429, retry_after=HOUR_S, times=None)
        )
        for method, path in hostility.refused
    ]
    conduct = asyncio.create_task(hostility.conduct(hostile), name=hostility.name)
    try:
        yield hostile
    finally:
        if conduct.done():
            conduct.result()
        conduct.cancel()
        await asyncio.wait({conduct})
        for fault in faults:
            stage.discord.faults.remove(fault)
        world.use_command(first, channel, "kill")
