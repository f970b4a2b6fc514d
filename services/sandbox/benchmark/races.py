"""The stop races: a stop at each point of a turn's life, and how long until the connection is closed and the text still.

All enter as people make them: /kill or the Stop button, through Discord's gateway. What no connection came of has no
time to a closed one, and counts as never called.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from services.sandbox.benchmark.crew import Crew
from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.quantiles import Quantiles, in_ms
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.runners import TurnHangs, over
from services.sandbox.benchmark.stage import Say, Stage, Turn
from services.sandbox.discord.entities import Channel, User
from services.sandbox.discord.jsontypes import JsonObject, JsonValue

INTERVAL_S = 0.02
DELTAS_A_PARAGRAPH = 10
PARAGRAPHS = 200
SIDE_BY_SIDE = 2
SETTLE_S = 0.3
_BUTTON = 2
REBALANCED = ("provider", "orchestrator")


@dataclass(frozen=True, slots=True)
class Stopped:
    """One race. Seconds from the event in Discord; `visible_s` is 0 where nothing was shown after it.

    `closed_s` is None where no connection was open at the event or came after it. `next_s`: until the first message of
    the turn after the stop.
    """

    closed_s: float | None
    visible_s: float
    over_s: float
    called: bool
    next_s: float | None = None


@dataclass(frozen=True, slots=True)
class RaceRow:
    """One line of the table, times in ms. `never_called`: turns that were stopped before the provider got a request."""

    race: str
    times: int
    to_closed_ms: Quantiles
    to_last_visible_ms: Quantiles
    to_turn_over_ms: Quantiles
    never_called: int
    next_first_shown_ms: Quantiles | None = None


class Races:
    """Runs each race `times` times on a running stage."""

    def __init__(self, stage: Stage, crew: Crew, times: int, say: Say) -> None:
        self._stage = stage
        self._crew = crew
        self._times = times
        self._say = say

    async def run(self) -> tuple[tuple[RaceRow, ...], tuple[Stopped, ...]]:
        """The table, and the single races that had a connection to close."""
        rows: list[RaceRow] = []
        every: list[Stopped] = []
        races: Mapping[str, Callable[[], Awaitable[Stopped]]] = {
            "before the prompt is read": self._before_prompt,
            "before the first byte": self._before_first_byte,
            "in mid-stream": self._mid_stream,
            "after the end": self._after_end,
            "the turn after a stop": self._turn_after,
        }
        for name, race in races.items():
            self._say(f"stop race: {name}")
            found = await self._repeat(race)
            rows.append(_row(name, found))
            every += found
        self._say("stop race: during a rebalance")
        found = [await self._during_rebalance() for _ in range(self._times)]
        rows.append(_row("during a rebalance", found))
        return tuple(rows), (*every, *found)

    async def _repeat(self, race: Callable[[], Awaitable[Stopped]]) -> list[Stopped]:
        async def again(times: int) -> list[Stopped]:
            return [await race() for _ in range(times)]

        share, more = divmod(self._times, SIDE_BY_SIDE)
        lanes = await asyncio.gather(*(again(share + (number < more)) for number in range(SIDE_BY_SIDE)))
        return [stopped for lane in lanes for stopped in lane]

    # -- the races -------------------------------------------------------------------------------------------------

    async def _before_prompt(self) -> Stopped:
        channel, user = self._stage.add_channel()
        turn_id, turn = self._stage.post(channel, user, _endless(self._stage))
        return await self._ended(turn_id, turn, self._kill(channel, user))

    async def _before_first_byte(self) -> Stopped:
        channel, user = self._stage.add_channel()
        turn_id, turn = self._stage.post(channel, user, _endless(self._stage, silent=True))
        await _within(turn.called.wait(), turn_id)
        await asyncio.sleep(SETTLE_S)
        return await self._ended(turn_id, turn, self._kill(channel, user))

    async def _mid_stream(self) -> Stopped:
        channel, user = self._stage.add_channel()
        turn_id, turn = self._stage.post(channel, user, _endless(self._stage))
        await _within(turn.shows(3), turn_id)
        return await self._ended(turn_id, turn, self._press(user, turn))

    async def _after_end(self) -> Stopped:
        channel, user = self._stage.add_channel()
        reply = make_reply(self._stage.next_number(), paragraphs=2, deltas_a_paragraph=DELTAS_A_PARAGRAPH)
        turn_id, turn = self._stage.post(channel, user, Plan(reply, INTERVAL_S))
        await over(turn_id, turn)
        return await self._ended(turn_id, turn, self._kill(channel, user))

    async def _turn_after(self) -> Stopped:
        channel, user = self._stage.add_channel()
        turn_id, turn = self._stage.post(channel, user, _endless(self._stage))
        await _within(turn.shows(3), turn_id)
        stopped_s = self._press(user, turn)
        reply = make_reply(self._stage.next_number(), paragraphs=2, deltas_a_paragraph=DELTAS_A_PARAGRAPH)
        next_id, after = self._stage.post(channel, user, Plan(reply, INTERVAL_S))
        await over(next_id, after)
        if not after.whole:
            raise TurnHangs(f"turn {next_id}, after a stop, did not show its whole text", remedy="read the logs")
        stopped = await self._ended(turn_id, turn, stopped_s)
        return Stopped(
            stopped.closed_s, stopped.visible_s, stopped.over_s, stopped.called, after.shown[0].at_s - stopped_s
        )

    async def _during_rebalance(self) -> Stopped:
        """Of two processes that make or decide, one leaves its group in the moment of the stop; it may hold the stream."""
        guests = await self._crew.guests(REBALANCED, self._stage.environment)
        channel, user = self._stage.add_channel()
        turn_id, turn = self._stage.post(channel, user, _endless(self._stage))
        await _within(turn.shows(3), turn_id)
        leaving = asyncio.create_task(guests.leave())
        await asyncio.sleep(0)
        try:
            return await self._ended(turn_id, turn, self._press(user, turn))
        finally:
            await leaving

    # -- what all of them do ---------------------------------------------------------------------------------------

    def _kill(self, channel: Channel, user: User) -> float:
        at_s = time.monotonic()
        self._stage.discord.world.use_command(user, channel, "kill")
        return at_s

    def _press(self, user: User, turn: Turn) -> float:
        message = turn.shown[0].message
        [custom_id] = [str(button["custom_id"]) for row in message.components for button in _buttons(row)]
        at_s = time.monotonic()
        self._stage.discord.world.press_button(user, message, custom_id)
        return at_s

    async def _ended(self, turn_id: str, turn: Turn, stopped_s: float) -> Stopped:
        """Wait for the turn's end and for the connection's, which may come later."""
        await over(turn_id, turn)
        if turn.call is not None:
            await _within(turn.call.ended.wait(), turn_id)
        await asyncio.sleep(SETTLE_S)
        closed_s = None
        if turn.call is not None and turn.call.ended_s is not None and turn.call.ended_s > stopped_s:
            closed_s = turn.call.ended_s - stopped_s
        visible_s = max((shown.at_s - stopped_s for shown in turn.shown), default=0.0)
        called = turn.call is not None
        self._stage.forget(turn_id)
        over_s = 0.0 if turn.over_s is None else turn.over_s - stopped_s
        return Stopped(closed_s, max(visible_s, 0.0), max(over_s, 0.0), called)


def _endless(stage: Stage, *, silent: bool = False) -> Plan:
    reply = make_reply(stage.next_number(), paragraphs=PARAGRAPHS, deltas_a_paragraph=DELTAS_A_PARAGRAPH)
    return Plan(reply, INTERVAL_S, silent)


def _buttons(component: JsonValue) -> list[JsonObject]:
    if not isinstance(component, dict):
        return []
    if component.get("type") == _BUTTON:
        return [component]
    inner = component.get("components")
    return [button for one in inner for button in _buttons(one)] if isinstance(inner, list) else []


async def _within(waiting: Awaitable[object], turn_id: str) -> None:
    try:
        async with asyncio.timeout(30.0):
            await waiting
    except TimeoutError:
        raise TurnHangs(f"turn {turn_id} does not come forward", remedy="read the workers' logs") from None


def _row(name: str, found: list[Stopped]) -> RaceRow:
    following = [one.next_s for one in found if one.next_s is not None]
    return RaceRow(
        race=name,
        times=len(found),
        to_closed_ms=in_ms([one.closed_s for one in found if one.closed_s is not None]),
        to_last_visible_ms=in_ms([one.visible_s for one in found]),
        to_turn_over_ms=in_ms([one.over_s for one in found]),
        never_called=sum(not one.called for one in found),
        next_first_shown_ms=in_ms(following) if following else None,
    )
