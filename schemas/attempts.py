"""What the attempts of a turn use, give up and meet: the facts by which the next one is decided. No secret is among them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.base import GenerationNumber, Model
from schemas.chunks import ErrorClass, ProviderErrorType

MOST_KEYS = 64
"""Keys of a body that one record names; what stands behind them in a longer list is never given up."""

NO_ATTEMPT_LEFT = "no_attempt_left"
"""The code of a GenerationFailed by which context says that there is no further key or model to try."""

BodyKey = Annotated[str, StringConstraints(min_length=1, max_length=100)]
"""A key of a native body; of one inside another object the path, as in `generationConfig.topK`."""

Name = Annotated[str, StringConstraints(max_length=200)]

CredentialSource = Literal["server", "personal"]
"""Whose key a call is made with: the server's, or the user's own."""

Degradable = Literal["bad_request", "bad_gateway", "opaque_failure"]
"""A refusal that names nothing, after which parts of the request may be given up one by one.

bad_request: a 400 or 422 of no known kind, or that no endpoint was found that takes it. bad_gateway: a 502.
opaque_failure: a 500 that says no more.
"""

Step = Literal["first", "same", "key", "model"]
"""How an attempt is chosen: the turn's first choice; the one before again; another key for its model, or where there is
none another model; another model.
"""


class Chosen(Model):
    """Whom a call asks and with whose key; `credential` is the key's name (CredentialRef), never the key."""

    provider: Name
    model: Name
    credential: Name = ""
    source: CredentialSource = "server"


class Uncalled(Model):
    """Whose provider was to be asked where none could be; `provider` is empty where none is named."""

    source: CredentialSource
    provider: Name = ""


class AttemptFacts(Model):
    """What the attempts after a refusal must know of the request that was refused.

    `droppable`: keys of its body in the order in which they may be given up, those that this system set unasked before
    the user's; without any other key the reply would be another one or none. `images`, `tools`: there are such in it.
    `degrades`: the refusals beyond those that name a key or images after which giving up helps.
    """

    chosen: Chosen
    droppable: Annotated[tuple[BodyKey, ...], Field(max_length=MOST_KEYS)] = ()
    images: bool = False
    tools: bool = False
    degrades: tuple[Degradable, ...] = ()


class Rung(Model):
    """What a request leaves out of what it would say; the empty one is the whole request."""

    without: Annotated[tuple[BodyKey, ...], Field(max_length=MOST_KEYS)] = ()
    without_images: bool = False
    without_tools: bool = False


class Refusal(Model):
    """An error as far as the choice of the next key or model needs it; see ProviderError."""

    type: ProviderErrorType
    code: Annotated[str, StringConstraints(max_length=100)]
    classifiers: tuple[ErrorClass, ...] = ()
    retry_after_s: float | None = None


class EarlierAttempt(Model):
    """One generation of the turn that is over, and led to another. `chosen` is None where nobody knows what it used.

    `ended_ms`: the append time of the event that ended it, in ms since 1970.
    """

    generation: GenerationNumber
    outcome: Literal["error", "empty", "lost"]
    chosen: Chosen | None = None
    rung: Rung = Rung()
    refusal: Refusal | None = None
    ended_ms: int


class AttemptPlan(Model):
    """Which attempt a generation is. `earlier` are those of the turn before it, the oldest first.

    `rung` is what the request gives up; it holds for the choice that the step `same` repeats, and is empty for others.
    `paused_ms`: how long the orchestrator waited before it asked.
    """

    step: Step = "first"
    rung: Rung = Rung()
    paused_ms: Annotated[int, Field(ge=0)] = 0
    earlier: tuple[EarlierAttempt, ...] = ()
