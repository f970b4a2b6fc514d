"""The people of a run: in each channel they mention the bot again and again, follow up, press Stop and use /kill."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from schemas.identities import turn_of_message
from services.sandbox.chaos.clock import RunClock
from services.sandbox.discord.entities import Channel, Message, User
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.world import World

NAMES = ("ada", "grace", "max", "milena", "ottla")
MEAN_WAIT_S = 7.0
"""From one message of a channel to the next; a reply takes about four seconds, so turns queue and overlap."""

FOLLOW_UPS = 0.15
STOPS = 0.12
KILLS = 0.06
LOOKS_S = 4.0
_BUTTON = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """One message that mentions the bot, and so a turn. `at` is the run's clock, `question` what the model is asked."""

    turn: str
    channel: Channel
    at: float
    question: str


class People:
    """Whoever chats. `asked` has every turn by its id."""

    def __init__(self, world: World, channels: tuple[Channel, ...], seed: int, clock: RunClock) -> None:
        self._world = world
        self._channels = channels
        self._seed = seed
        self._clock = clock
        self.asked: dict[str, Asked] = {}
        self.events: list[tuple[float, str]] = []
        self.stops = 0

    async def chat(self, seconds: float) -> None:
        """Chat in all channels for so long."""
        until = self._clock.now() + seconds
        async with asyncio.TaskGroup() as group:
            for number, channel in enumerate(self._channels):
                group.create_task(self._chat_in(channel, Random(f"people {self._seed} {number}"), until))

    async def _chat_in(self, channel: Channel, dice: Random, until: float) -> None:
        people = tuple(self._world.user(name) for name in NAMES)
        await asyncio.sleep(dice.uniform(0.0, 1.0))
        while self._clock.now() < until:
            user = dice.choice(people)
            self._ask(user, channel)
            wait = min(dice.expovariate(1 / MEAN_WAIT_S), 3 * MEAN_WAIT_S)
            chance = dice.random()
            if chance < FOLLOW_UPS:
                await asyncio.sleep(dice.uniform(0.2, 3.0))
                self._ask(user, channel)
            elif chance < FOLLOW_UPS + STOPS:
                await self._press_stop(user, channel)
            elif chance < FOLLOW_UPS + STOPS + KILLS:
                await asyncio.sleep(dice.uniform(0.0, 3.0))
                self._note(f"{user.username} uses /kill in {channel.name}")
                self._world.use_command(user, channel, "kill")
                self.stops += 1
            await asyncio.sleep(min(wait, max(0.0, until - self._clock.now())))

    def _ask(self, user: User, channel: Channel) -> None:
        number = len(self.asked)
        text = f"Tell me something long, number {number}."
        message = self._world.post_as(user, channel, f"<@{self._world.bot.id}> {text}")
        turn = turn_of_message(str(message.id))
        self.asked[turn] = Asked(turn, channel, self._clock.now(), f"{user.username.capitalize()}: {text}")
        self._note(f"{user.username} asks number {number} in {channel.name}: turn {turn}")

    async def _press_stop(self, user: User, channel: Channel) -> None:
        """Press the newest Stop button of the channel, once there is one."""
        for _ in range(int(LOOKS_S / 0.2)):
            await asyncio.sleep(0.2)
            found = next(_stop_buttons(channel, self._world.bot), None)
            if found is not None:
                message, custom_id = found
                self._note(f"{user.username} presses {custom_id} in {channel.name}")
                self._world.press_button(user, message, custom_id)
                self.stops += 1
                return

    def _note(self, what: str) -> None:
        self.events.append((self._clock.now(), what))


def _stop_buttons(channel: Channel, bot: User) -> Iterator[tuple[Message, str]]:
    for message in reversed(channel.messages.values()):
        if message.author.id == bot.id and message.visible_to is None:
            for button in _buttons([*message.components]):
                yield message, str(button["custom_id"])


def _buttons(component: JsonValue) -> Iterator[JsonObject]:
    if isinstance(component, list):
        for inner in component:
            yield from _buttons(inner)
    elif isinstance(component, dict):
        if component.get("type") == _BUTTON:
            yield component
        yield from _buttons(component.get("components"))
