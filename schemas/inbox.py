"""Events that the orchestrator folds, one order a channel: messages, chunk batches, receipts, failures, timers.

Stops are events of the inbox too; they have a file of their own because they travel on control as well.
"""

from typing import Annotated, Literal

from pydantic import Field

from schemas.attempts import AttemptFacts, Uncalled
from schemas.base import GenerationNumber, Model, Record, Sequence, Snowflake, TurnId, is_absent
from schemas.chunks import ProcessedChunk, ProviderError


class Author(Model):
    """Who wrote a message, as Discord shows it."""

    id: Snowflake
    name: Annotated[str, Field(max_length=100)]
    bot: bool = False


Locale = Literal["en", "ja"]
"""A language that notices are written in."""


class FoldSettings(Model):
    """What the fold needs to know of guild and channel and cannot look up, stamped by the gateway."""

    queue_limit: Annotated[int, Field(ge=0)] = 8
    follow_up: Literal["interrupt", "enqueue"] = Field(
        default="interrupt", description="what a second message of the turn's own author does"
    )
    lost_retries: Annotated[int, Field(ge=0)] = Field(
        default=2, description="how many further calls a turn may make after its stream was declared lost"
    )
    generation_deadline_ms: Annotated[int, Field(gt=0)] = 600_000
    delivery_deadline_ms: Annotated[int, Field(gt=0)] = 900_000
    locale: Locale = "en"


class Admitted(Model):
    """The message may start a turn."""

    kind: Literal["admitted"] = "admitted"


class Refused(Model):
    """The message starts no turn; `notice` is shown to its author where it is not empty."""

    kind: Literal["refused"] = "refused"
    reason: str
    notice: str = ""


class MessageReceived(Record):
    """A Discord message addressed to the bot, decided upon once by the gateway."""

    channel_id: Snowflake
    guild_id: Snowflake | None
    message_id: Snowflake
    author: Author
    content: Annotated[str, Field(max_length=8000)]
    reply_to: Snowflake | None = None
    source: Literal["mention", "reply", "direct"]
    admission: Annotated[Admitted | Refused, Field(discriminator="kind")] = Admitted()
    settings: FoldSettings = FoldSettings()
    rules_version: Annotated[int, Field(ge=1)] = 1


class ChunkBatch(Record):
    """What one raw record became, an empty batch included, so that sequences have no gap.

    `sequence` is that of the raw record. `end` is set on the batch of the raw end and says how the stream ended. With it
    come `attempt`, what the call used, and `http_status`, if its prompt told the former and its holder wrote the end.
    """

    turn: TurnId
    generation: GenerationNumber
    sequence: Sequence
    instance: str
    chunks: tuple[ProcessedChunk, ...]
    end: str | None = None
    attempt: AttemptFacts | None = Field(default=None, exclude_if=is_absent)
    http_status: int | None = Field(default=None, exclude_if=is_absent)


class GenerationFailed(Record):
    """No provider call was made for the generation: its context or its prompt could not be made or sent.

    `attempt` is set by whoever held the claim of a call that could not be made: another key or model may do. `uncalled` is
    set where a server's or a person's choice names nobody who can be asked.
    """

    turn: TurnId
    generation: GenerationNumber
    error: ProviderError
    attempt: AttemptFacts | None = Field(default=None, exclude_if=is_absent)
    uncalled: Uncalled | None = Field(default=None, exclude_if=is_absent)


class Sent(Model):
    """Discord accepted the output; `message_id` is None for what makes no message."""

    kind: Literal["sent"] = "sent"
    message_id: Snowflake | None = None


class Failed(Model):
    """Discord refused the output for good; `code` is Discord's own where it gave one, else the HTTP status."""

    kind: Literal["failed"] = "failed"
    code: str
    reason: str


class Skipped(Model):
    """The output was not sent on purpose: cancelled, or its channel is gone."""

    kind: Literal["skipped"] = "skipped"
    reason: str


Outcome = Annotated[Sent | Failed | Skipped, Field(discriminator="kind")]


class DeliveryReceipt(Record):
    """What became of one output of a turn; every output that needs a receipt gets exactly one that counts."""

    turn: TurnId
    sequence: Sequence
    outcome: Outcome


class TimerFired(Record):
    """A deadline's time has come, by the writer's clock; the fold ignores one whose append time lies before `due_ms`.

    `armed_by` is the inbox offset of the event that armed the timer; `due_ms` is that event's append time plus the
    timer's length, in milliseconds since 1970. The timer of a generation that was not asked for yet ends the pause
    before it.
    """

    turn: TurnId
    timer: Literal["generation", "delivery"]
    generation: GenerationNumber | None = None
    armed_by: Annotated[int, Field(ge=0)]
    due_ms: Annotated[int, Field(ge=0)]
