"""A crowd that keeps a number of turns streaming: as one turn of a channel ends, somebody asks there again."""

import asyncio

from schemas.identities import turn_of_message
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.people import NAMES, Asked
from services.sandbox.chaos.rest import EndedTurns
from services.sandbox.chaos.scenarios.scenario import Run
from services.sandbox.discord.entities import Channel
from services.sandbox.discord.world import World


class StreamingCrowd:
    """One turn at a time in each channel, begun one after another over `spread_s` so that they do not end together."""

    def __init__(self, run: Run, spread_s: float) -> None:
        self._world: World = run.stage.discord.world
        self._channels: tuple[Channel, ...] = run.stage.channels
        self._ended: EndedTurns = run.ended
        self._clock: RunClock = run.clock
        self._spread_s = spread_s
        self._enough = asyncio.Event()
        self._asks = [0] * len(self._channels)
        self._asked_again = asyncio.Event()
        self.asked: dict[str, Asked] = {}
        self.events: list[tuple[float, str]] = []

    async def chat(self) -> None:
        """Chat until `go_home`; returns when every turn has a result."""
        async with asyncio.TaskGroup() as group:
            for number, channel in enumerate(self._channels):
                group.create_task(self._chat_in(number, channel, self._spread_s * number / len(self._channels)))

    async def each_again(self) -> None:
        """Wait until somebody has asked again in every channel."""
        before = list(self._asks)
        while any(now == then for now, then in zip(self._asks, before, strict=True)):
            self._asked_again.clear()
            await self._asked_again.wait()

    def go_home(self) -> None:
        """Nobody asks again."""
        self._enough.set()

    async def _chat_in(self, place: int, channel: Channel, after_s: float) -> None:
        await asyncio.sleep(after_s)
        while not self._enough.is_set():
            turn = self._ask(channel)
            self._asks[place] += 1
            self._asked_again.set()
            await self._ended.wait(turn)

    def _ask(self, channel: Channel) -> str:
        number = len(self.asked)
        user = self._world.user(NAMES[number % len(NAMES)])
        text = f"Tell me something long, number {number}."
        message = self._world.post_as(user, channel, f"<@{self._world.bot.id}> {text}")
        turn = turn_of_message(str(message.id))
        self.asked[turn] = Asked(turn, channel, self._clock.now(), f"{user.username.capitalize()}: {text}")
        self.events.append((self._clock.now(), f"{user.username} asks number {number} in {channel.name}: turn {turn}"))
        return turn
