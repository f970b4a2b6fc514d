"""What the orchestrator asks context to assemble for one provider call."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.attempts import AttemptPlan
from schemas.base import GenerationNumber, Record, Snowflake, TurnId, is_absent
from schemas.inbox import Author


class GenerationRequested(Record):
    """One provider call of a turn, to be assembled.

    `emitted` is the text that earlier generations of the turn have shown, of more than 64 KiB its last part: the call
    continues after it. `why` is `lost` where the one before was, else `first`; `attempt` says more, and is there from
    rules version 3 on.
    """

    channel_id: Snowflake
    guild_id: Snowflake | None
    turn: TurnId
    generation: GenerationNumber
    message_id: Snowflake
    author: Author
    content: str
    emitted: str = ""
    why: Literal["first", "lost"] = "first"
    deadline_ms: Annotated[
        int,
        Field(gt=0, description="how long the orchestrator waits for the generation's end, from its event on, in ms"),
    ]
    rules_version: Annotated[int, Field(ge=1, description="the stamp of the turn's message")] = 1
    attempt: AttemptPlan | None = Field(default=None, exclude_if=is_absent)
