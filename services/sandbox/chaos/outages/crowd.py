"""Who chats in an outage: one person in each channel asks at once, and some more ask in the midst of the outage."""

import asyncio

from schemas.identities import turn_of_message
from services.sandbox.chaos.people import NAMES, Asked
from services.sandbox.chaos.scenarios.scenario import Run
from services.sandbox.discord.entities import Channel

STREAMING_WITHIN_S = 90.0
ASKED_MEANWHILE = 5
_LOOK_EVERY_S = 0.05


class OutageCrowd:
    """The turns that the outage hits, and those that are asked for while it lasts."""

    def __init__(self, run: Run) -> None:
        self._world = run.stage.discord.world
        self._channels = run.stage.channels
        self._clock = run.clock
        self.asked: dict[str, Asked] = {}
        self.events: list[tuple[float, str]] = []

    def ask_everywhere(self) -> None:
        """One turn in each channel."""
        for place, channel in enumerate(self._channels):
            self._ask(channel, place)

    def ask_meanwhile(self) -> None:
        """Somebody else asks in the first channels; a turn that still goes on there comes first."""
        for place, channel in enumerate(self._channels[:ASKED_MEANWHILE]):
            self._ask(channel, place + 1)

    async def all_stream(self) -> None:
        """Wait until every channel shows the beginning of a reply. Raises TimeoutError."""
        async with asyncio.timeout(STREAMING_WITHIN_S):
            # The world tells of every event; so few channels are as quickly looked through.
            while not all(self.shown(channel) for channel in self._channels):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_EVERY_S)

    def shown(self, channel: Channel) -> int:
        """How many messages of the bot the channel shows."""
        return sum(message.author.id == self._world.bot.id for message in channel.messages.values())

    def _ask(self, channel: Channel, person: int) -> None:
        user = self._world.user(NAMES[person % len(NAMES)])
        text = f"Tell me something long, number {len(self.asked)}."
        message = self._world.post_as(user, channel, f"<@{self._world.bot.id}> {text}")
        turn, at = turn_of_message(str(message.id)), self._clock.now()
        self.asked[turn] = Asked(turn, channel, at, f"{user.username.capitalize()}: {text}")
        self.events.append((at, f"{user.username} asks in {channel.name}: turn {turn}"))
