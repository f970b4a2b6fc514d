"""The people of one world: they write messages, press Stop, kill, and write again while a reply is coming."""

from collections.abc import Callable
from random import Random

from schemas.identities import turn_of_message
from services.gateway.stops import kill_channel, stop_turn
from services.sandbox.simulation.discord import Message, seen
from services.sandbox.simulation.faults import ACTIVE_S
from services.sandbox.simulation.stage import Stage
from services.sandbox.simulation.workers import GatewaySession

CHANNELS = (101, 102, 103)
USERS = (11, 12)


class People:
    """What they do follows from the seed."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def plan(self) -> None:
        """Plan all that they do."""
        dice = Random(f"users {self._stage.seed}")
        for number in range(dice.randint(2, 7)):
            at, channel, user = dice.uniform(1.5, ACTIVE_S), dice.choice(CHANNELS), dice.choice(USERS)
            self._stage.at(at, lambda n=number, c=channel, u=user: self._say(c, u, f"message {n}"))
            if dice.random() < 0.35:
                self._stage.at(at + dice.uniform(0.0, 6.0), lambda c=channel, u=user: self._stop(c, u, "button"))
            if dice.random() < 0.2:
                self._stage.at(at + dice.uniform(0.0, 6.0), lambda c=channel, u=user: self._stop(c, u, "kill"))
            if dice.random() < 0.3:
                self._stage.at(
                    at + dice.uniform(0.2, 6.0), lambda n=number, c=channel, u=user: self._say(c, u, f"more {n}")
                )

    def _say(self, channel: int, user: int, text: str) -> None:
        if self._stage.discord.is_away():
            return
        self._stage.note(f"user {user} says {text!r} in {channel}")
        message = self._stage.discord.add(channel, user, text)
        self._push(lambda session, message=message: self._receive(session, message))

    def _receive(self, session: GatewaySession, message: Message) -> None:
        session.intake.receive(seen(message))

    def _stop(self, channel: int, user: int, how: str) -> None:
        if self._stage.discord.is_away():
            return
        interaction = self._stage.discord.snowflake()
        if how == "kill":
            stop = kill_channel(channel_id=channel, interaction_id=interaction, user_id=user)
        else:
            asked = next(
                (m for m in reversed(self._stage.discord.channels.get(channel, ())) if m.author_id == user), None
            )
            if asked is None:
                return
            stop = stop_turn(
                turn=turn_of_message(str(asked.message_id)),
                channel_id=channel,
                interaction_id=interaction,
                user_id=user,
            )
        self._stage.note(f"user {user} stops {how} in {channel}")
        self._push(lambda session, stop=stop: session.stops.write(stop))

    def _push(self, tell: Callable[[GatewaySession], object]) -> None:
        """Send an event over the websockets that are open."""
        for host, session in list(self._stage.sessions.items()):
            if session.connected and not host.dead:
                delay = self._stage.dice.uniform(0.005, 0.08)
                host.run(lambda session=session, delay=delay: self._stage.loop.call_later(delay, tell, session))
