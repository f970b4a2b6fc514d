"""What the browser may ask for, as models: bodies are checked here before anything is done with them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Id = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Write(_Body):
    """A message by a person; `content` as typed, short enough for Discord's 2,000 characters with a mention before it."""

    user: Id
    content: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_950)]
    reply_to: Id | None = None


class Press(_Body):
    """A press of a message's button."""

    user: Id
    message: Id
    custom_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Use(_Body):
    """A slash command without options."""

    user: Id
    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,32}$")]
