"""The result of a finished turn."""

from typing import Literal

from schemas.base import Model, Record, Snowflake, TurnId
from schemas.chunks import ProviderError, Usage

TurnStatus = Literal[
    "completed",
    "empty_response",
    "error",
    "timeout",
    "stopped_by_user",
    "killed",
    "follow_up_interrupt",
    "refused",
]


class Timings(Model):
    """Append times of the events that made the turn, in ms since 1970; None where there was no such event."""

    received_ms: int
    started_ms: int | None = None
    first_chunk_ms: int | None = None
    first_shown_ms: int | None = None
    finished_ms: int


class TurnFinished(Record):
    """How a turn ended, once a turn. `characters` counts the code points of the reply that were decided to be shown."""

    channel_id: Snowflake
    guild_id: Snowflake | None
    turn: TurnId
    status: TurnStatus
    model: str | None = None
    generations: int
    messages: int
    characters: int
    finish_reason: str | None = None
    usage: Usage | None = None
    error: ProviderError | None = None
    timings: Timings
