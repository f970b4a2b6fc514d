"""What an actor remembers of its channel between two events: one frozen, JSON-serializable, bounded value.

Bounds, so that a snapshot stays below a megabyte whatever users and providers send: `QUEUE_LIMIT` queued messages of at
most 8,000 code points, `RECENT_LIMIT` message ids, `STOPS_LIMIT` stops, `SLOTS` deliveries without receipt,
`WAITING_BYTES` of text that waits for a slot, `EMITTED_BYTES` of shown text.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from schemas.attempts import EarlierAttempt, Rung, Step
from schemas.base import Snowflake, is_absent
from schemas.channels import ChannelSnapshot
from schemas.chunks import ProviderError, Usage
from schemas.errors import BadRecord
from schemas.identities import turn_of_message
from schemas.inbox import Author, FoldSettings
from schemas.stops import ChannelTurns, OneTurn
from schemas.turns import TurnStatus
from services.orchestrator.segments import Buffer

STATE_VERSION = 1
"""Raised when a state of before could not be read as it is."""

SLOTS = 8
"""Messages without receipt a channel; more wait in the state, so that delivery never holds a long queue."""

QUEUE_LIMIT = 8
"""Queued turns a channel at most, whatever the settings say."""

RECENT_LIMIT = 256
STOPS_LIMIT = 64
STOPS_KEPT_MS = 600_000
"""How long a stop waits for its message: 10 minutes between their append times."""

WAITING_BYTES = 131_072
"""JSON bytes of text that waits for a slot; a reply that runs further ahead of Discord is ended."""

EMITTED_BYTES = 65_536
"""JSON bytes of decided text that are kept for a continuation; of a longer reply its last part is kept."""


_set = object.__setattr__


class State(BaseModel):
    """A frozen part of the state."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def but(self, **changes: Any) -> Self:
        """The same value with other fields, which are not validated; a name that is no field raises KeyError."""
        fields = self.__dict__ | changes
        if len(fields) != len(self.__dict__):
            raise KeyError(f"{type(self).__name__} has no fields {sorted(changes.keys() - self.__dict__.keys())}")
        # What model_copy does for a frozen model without extra and private fields, at less than half of its cost: the
        # fold makes six of these copies a batch.
        other = object.__new__(type(self))
        _set(other, "__dict__", fields)
        _set(other, "__pydantic_fields_set__", self.__pydantic_fields_set__)
        _set(other, "__pydantic_extra__", None)
        _set(other, "__pydantic_private__", None)
        return other


class Cause(State):
    """The message that caused a turn, with what every later decision about the turn needs."""

    message_id: Snowflake
    guild_id: Snowflake | None
    author: Author
    content: str
    settings: FoldSettings
    rules_version: int
    received_ms: int

    @property
    def turn(self) -> str:
        """The turn's id."""
        return turn_of_message(self.message_id)


class Stop(State):
    """A stop that is remembered for messages that come after it."""

    stop_id: Snowflake
    target: Annotated[OneTurn | ChannelTurns, Field(discriminator="kind")]
    manner: Literal["graceful", "kill"]
    at_ms: int


class Waiting(State):
    """Text of the current turn that waits for a slot; a notice has no range."""

    text: str
    start: int | None = None
    end: int | None = None


class Outstanding(State):
    """A message without receipt, of the current turn or of one that has ended.

    `clear_as`: the sequence kept for taking off its Stop button, once its turn has ended before the receipt came.
    """

    turn: str
    sequence: int
    notice: bool
    armed_by: int
    due_ms: int
    clear_as: int | None = None


class Button(State):
    """The turn's Stop button: the sequence of its message, and the message once Discord has it."""

    sequence: int
    message_id: Snowflake | None = None


class Generation(State):
    """The provider call that counts: its deadline, and how far its batches were read.

    `instance`: whose batches count, None before the first.
    """

    number: int
    armed_by: int
    due_ms: int
    instance: str | None = None
    next_batch: int = 0


class Attempts(State):
    """Which attempt the current generation is, what it met so far, and those before it.

    `paused`: it was not asked for yet, and its deadline ends the pause of `paused_ms`. `since`: the first generation that
    asked this model with this key; of these `base` is what errors have named, `named` how often they did, and `waited`
    says that the provider's wish for a pause was heeded. `committed`: something of a reply has come. `failed`, `empty`: so
    the reply ended, while the end of the stream is awaited. `error`: the last one of the attempts before. `leftover`: the
    turn's buffer holds text of an attempt before, which is shown if this one says nothing.
    """

    step: Step = "first"
    rung: Rung = Rung()
    paused: bool = False
    paused_ms: int = 0
    since: int = 1
    base: Rung = Rung()
    named: int = 0
    waited: bool = False
    committed: bool = False
    failed: ProviderError | None = None
    empty: bool = False
    earlier: tuple[EarlierAttempt, ...] = ()
    error: ProviderError | None = None
    leftover: bool = False

    @property
    def tried(self) -> tuple[Rung, ...]:
        """What was sent to this model with this key, the current attempt too."""
        return (*(earlier.rung for earlier in self.earlier if earlier.generation >= self.since), self.rung)


class Ending(State):
    """How the turn ends once its last message has a receipt."""

    status: TurnStatus
    error: ProviderError | None = None


class Turn(State):
    """The channel's current turn. With `ending` it is draining: all text is decided, receipts are awaited.

    `next_sequence` numbers its outputs to delivery, `sends` counts the messages among them, `messages` those parts of
    the reply that Discord accepted. `shown_end`: end of the text that was put out. `trouble`: a delivery that failed
    without ending the turn. `attempts` is None before rules version 3.
    """

    cause: Cause
    queued: bool
    started_ms: int
    generation: Generation
    buffer: Buffer = Buffer()
    emitted: str = ""
    waiting: tuple[Waiting, ...] = ()
    waiting_bytes: int = 0
    next_sequence: int = 0
    sends: int = 0
    messages: int = 0
    shown_end: int = 0
    typing: bool = False
    button: Button | None = None
    trouble: ProviderError | None = None
    model: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    first_chunk_ms: int | None = None
    first_shown_ms: int | None = None
    ending: Ending | None = None
    attempts: Attempts | None = Field(default=None, exclude_if=is_absent)

    @property
    def asked(self) -> int:
        """How many generations were asked for."""
        return self.generation.number - (1 if self.attempts is not None and self.attempts.paused else 0)

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.cause.turn


class ChannelState(State):
    """All that the fold knows of a channel. `queue_notice`: that the queue is full has been said since it last had room."""

    channel_id: Snowflake
    turn: Turn | None = None
    queue: tuple[Cause, ...] = ()
    outstanding: tuple[Outstanding, ...] = ()
    stops: tuple[Stop, ...] = ()
    recent: tuple[Snowflake, ...] = ()
    queue_notice: bool = False

    @property
    def at_rest(self) -> bool:
        """Whether nothing is going on: no turn, no queue, no receipt awaited."""
        return self.turn is None and not self.queue and not self.outstanding


def to_snapshot(state: ChannelState, settled: int) -> ChannelSnapshot:
    """The state as a record, after folding up to and with inbox offset `settled`."""
    values: dict[str, JsonValue] = state.model_dump(mode="json")
    return ChannelSnapshot(channel_id=state.channel_id, settled=settled, state_version=STATE_VERSION, state=values)


def from_snapshot(snapshot: ChannelSnapshot) -> ChannelState:
    """The state in a record; raises UnreadableSnapshot for one that this code cannot read."""
    place = f"channel {snapshot.channel_id}: the snapshot at {snapshot.settled}"
    if snapshot.state_version != STATE_VERSION:
        raise UnreadableSnapshot(f"{place} has state version {snapshot.state_version}, this code reads {STATE_VERSION}")
    try:
        return ChannelState.model_validate(snapshot.state)
    except ValidationError as error:
        # Without what it quotes: texts of users.
        raise UnreadableSnapshot(f"{place} does not fit the state's model in {error.error_count()} places") from None


class UnreadableSnapshot(BadRecord):
    """A snapshot that other code wrote; the message says which versions meet, or that it fits none."""

    reason = "unreadable_snapshot"
