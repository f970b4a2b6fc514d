"""Stops: what they aim at, and the one predicate by which provider and fold decide whether a turn is hit.

No clock takes part: a button or a follow-up names the turn, and a channel-wide stop hits the turns whose causing
snowflake is older than its own. Snowflakes are made by Discord, so both sides agree on every machine.
"""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Model, Record, Snowflake, TurnId


class OneTurn(Model):
    """A stop that names its turn: a button, a follow-up, a deadline."""

    kind: Literal["turn"] = "turn"
    turn: TurnId


class ChannelTurns(Model):
    """A stop for every turn of the channel that was caused before it, queued ones too."""

    kind: Literal["channel"] = "channel"
    before: Snowflake = Field(description="the stop's own snowflake: older causes are hit")


Target = Annotated[OneTurn | ChannelTurns, Field(discriminator="kind")]


class StopRequested(Record):
    """A user's stop, written by the gateway to control and inbox with the same id; either write alone is enough."""

    channel_id: Snowflake
    stop_id: Snowflake = Field(description="the interaction or message that asked for the stop")
    target: Target
    manner: Literal["graceful", "kill"] = Field(
        description="graceful shows what is buffered and ends; kill drops the buffer and clears the channel's queue"
    )
    requested_by: Snowflake


class TurnInterrupted(Record):
    """The orchestrator's word to whoever holds a stream of the turn: close it, its result is decided."""

    channel_id: Snowflake
    turn: TurnId
    reason: Literal["follow_up", "deadline", "internal"]


def selects(target: OneTurn | ChannelTurns, *, turn: str, caused_by: str) -> bool:
    """Whether a stop hits the turn whose causing message has the snowflake `caused_by`."""
    match target:
        case OneTurn():
            return target.turn == turn
        case ChannelTurns():
            return int(caused_by) < int(target.before)
