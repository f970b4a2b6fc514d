"""The simulated Discord: channels, nonces, a gateway that pushes to connected hosts, and times when it is away.

A request takes effect when it arrives, whatever has become of the host that sent it, and its answer may be lost.
"""

import asyncio
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import TypeVar

from schemas.deliveries import ClearStopButton, SendText
from schemas.inbox import Failed, Sent
from services.context.building.messages import HistoryMessage
from services.delivery.fence import Fence
from services.gateway.admission import SeenMessage
from services.runtime.errors import Unavailable
from services.sandbox.simulation.cluster import EPOCH_MS, Cluster

Result = TypeVar("Result")
BOT_ID = 4
GUILD_ID = 5
NONCE_S = 150.0
_DISCORD_EPOCH_MS = 1_420_070_400_000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a channel. `at` is virtual time."""

    message_id: int
    channel_id: int
    author_id: int
    text: str
    nonce: str | None
    at: float
    button: bool = False


@dataclass(slots=True)
class SimulatedDiscord:
    """All channels.

    `lost_answers` is the share of requests that take effect and are answered by an error, `slow_requests` of those that
    are up to a minute on their way.
    """

    cluster: Cluster
    lost_answers: float
    slow_requests: float = 0.0
    channels: dict[int, list[Message]] = field(default_factory=dict[int, list[Message]])
    buttons: dict[str, str] = field(default_factory=dict[str, str])
    away_until: float = 0.0
    _last_id: int = 0

    def snowflake(self) -> int:
        """A new id; ids rise with time."""
        now_ms = EPOCH_MS + int(self.cluster.loop.time() * 1000)
        self._last_id = max(self._last_id + 1, (now_ms - _DISCORD_EPOCH_MS) << 22)
        return self._last_id

    def go_away(self, seconds: float) -> None:
        """Answer nobody for a while."""
        self.away_until = max(self.away_until, self.cluster.loop.time() + seconds)

    def is_away(self) -> bool:
        """Whether requests fail."""
        return self.cluster.loop.time() < self.away_until

    def add(self, channel: int, author: int, text: str, nonce: str | None = None, *, button: bool = False) -> Message:
        """A message appears at the end of its channel."""
        message = Message(self.snowflake(), channel, author, text, nonce, self.cluster.loop.time(), button)
        self.channels.setdefault(channel, []).append(message)
        return message

    def take_post(self, order: SendText, nonce: str) -> Message:
        """A post arrives; the same nonce within a few minutes is the message that is there."""
        channel = int(order.channel_id)
        now = self.cluster.loop.time()
        for message in reversed(self.channels.get(channel, ())):
            if message.nonce == nonce and now - message.at < NONCE_S:
                return message
        made = self.add(channel, BOT_ID, order.text, nonce, button=order.stop_button)
        if order.stop_button:
            self.buttons[order.turn] = str(made.message_id)
        return made


class SimulatedChannels:
    """Delivery's port; see `services.delivery.channels.Channels`."""

    def __init__(self, discord: SimulatedDiscord, fence: Fence) -> None:
        self._discord = discord
        self._fence = fence

    async def _arrive(self, effect: Callable[[], Result]) -> Result:
        """Send a request: it takes effect later, also without us; the answer may get lost. Raises Unavailable then."""
        discord, cluster = self._discord, self._discord.cluster
        answer: asyncio.Future[Result | None] = cluster.loop.create_future()
        lost = cluster.dice.random() < discord.lost_answers

        def arrived() -> None:
            failed = discord.is_away()
            result = None if failed else effect()
            cluster.later(cluster.dice.uniform(0.005, 0.05), _answer, answer, result, failed or lost)

        slow = discord.slow_requests > 0 and cluster.dice.random() < discord.slow_requests
        cluster.later(cluster.dice.uniform(1.0, 60.0) if slow else cluster.dice.uniform(0.005, 0.08), arrived)
        result = await answer
        if result is None:
            raise Unavailable("discord", "no answer")
        return result

    async def post(self, order: SendText, nonce: str) -> Sent | Failed:
        """Make one message."""
        self._fence.check()
        return Sent(message_id=str((await self._arrive(lambda: self._discord.take_post(order, nonce))).message_id))

    async def find(self, order: SendText, after: str, others: Set[str]) -> Sent | None:
        """Look through the channel."""
        found = await self._arrive(lambda: self._look(order, after, others))
        return found if isinstance(found, Sent) else None

    def _look(self, order: SendText, after: str, others: Set[str]) -> Sent | str:
        for message in self._discord.channels.get(int(order.channel_id), ()):
            own = message.author_id == BOT_ID and str(message.message_id) not in others
            if message.message_id > int(after) and own and message.text.strip() == order.text.strip():
                return Sent(message_id=str(message.message_id))
        return "nothing"

    async def clear_stop_button(self, order: ClearStopButton) -> None:
        """Take the button off a message."""
        self._fence.check()
        await self._arrive(lambda: self._discord.buttons.pop(order.turn, "gone"))

    async def show_typing(self, channel: str) -> bool:
        """Nobody looks."""
        return True


class SimulatedHistory:
    """Context's port, and the gateway's; see `services.context.history` and `services.gateway.intake`."""

    def __init__(self, discord: SimulatedDiscord) -> None:
        self._discord = discord

    def bot_id(self) -> str:
        """The bot's snowflake."""
        return str(BOT_ID)

    def bot_name(self) -> str:
        """The bot's name."""
        return "Odradek"

    async def up_to(self, channel_id: str, message_id: str, limit: int) -> tuple[HistoryMessage, ...]:
        """The last messages up to one."""
        await self._request()
        found = [m for m in self._discord.channels.get(int(channel_id), ()) if m.message_id <= int(message_id)]
        return tuple(
            HistoryMessage(str(m.message_id), str(m.author_id), f"user{m.author_id}", m.text)
            for m in found[-limit - 1 :]
        )

    async def messages_after(self, channel_id: int, guild_id: int | None, after: int) -> list[SeenMessage]:
        """The first messages after one."""
        await self._request()
        found = [m for m in self._discord.channels.get(channel_id, ()) if m.message_id > after]
        return [seen(m) for m in found[:100]]

    async def _request(self) -> None:
        await asyncio.sleep(self._discord.cluster.dice.uniform(0.01, 0.1))
        if self._discord.is_away():
            raise Unavailable("discord", "no answer")


def seen(message: Message) -> SeenMessage:
    """A message as the gateway shows it; users always mention the bot."""
    return SeenMessage(
        id=message.message_id,
        channel_id=message.channel_id,
        guild_id=GUILD_ID,
        author_id=message.author_id,
        author_name=f"user{message.author_id}",
        author_bot=message.author_id == BOT_ID,
        content=message.text,
        mentions=frozenset({BOT_ID}) if message.author_id != BOT_ID else frozenset[int](),
    )


def _answer(answer: "asyncio.Future[Result | None]", result: Result, lost: bool) -> None:
    if not answer.done():
        answer.set_result(None if lost else result)
