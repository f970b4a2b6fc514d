"""A provider-native request as context made it: all but the secret."""

from operator import not_
from typing import Annotated, ClassVar, Literal, cast

from pydantic import Field, StringConstraints

from schemas.attempts import AttemptFacts
from schemas.base import GenerationNumber, Model, Record, Snowflake, TurnId, is_absent
from schemas.chunks import Dialect
from schemas.context import BlobRef
from schemas.finite import FiniteObject
from schemas.parameter_types import JsonType, text_parameters

Placement = Literal["bearer", "x-api-key", "x-goog-api-key", "google-adc", "none"]
"""Where a provider wants its key. `google-adc`: an access token of Google's application default credentials."""


class CredentialRef(Model):
    """Which secret the provider worker adds, and how; the secret itself never enters a topic."""

    name: str = Field(
        description="the key's name in the worker's settings, or its reference in the catalog; empty for none"
    )
    placement: Placement


class BlobPlace(Model):
    """A string of the body that the provider worker makes as it sends: `prefix`, then the blob's bytes in base64.

    `path` is a JSON Pointer (https://www.rfc-editor.org/rfc/rfc6901) to a string, whose own text is not sent.
    """

    path: Annotated[str, StringConstraints(pattern=r"^(/([^~/]|~[01])*)+$", max_length=1024)]
    blob: BlobRef
    prefix: Annotated[str, Field(max_length=1024)] = ""


class KnownTool(Model):
    """A tool on offer to a model that writes its calls as text. `needs_arguments`: a call without any is no call.

    `texts` are the parameters that take a text, each with the other JSON types that it takes: where texts stand bare,
    nothing else tells the text 12 from the number.
    """

    name: str
    needs_arguments: bool = True
    texts: dict[str, tuple[JsonType, ...]] = Field(default_factory=dict, exclude_if=not_)

    @classmethod
    def of(cls, name: str, parameters: object) -> "KnownTool":
        """The tool of a JSON Schema of its parameters, as chat requests have it; without one it takes none."""
        schema = cast("dict[str, object]", parameters) if isinstance(parameters, dict) else {}
        return cls(name=name, needs_arguments=bool(schema.get("required")), texts=text_parameters(schema))


class StreamDeadlines(Model):
    """How long the provider worker waits: for the connection, the first byte, between bytes, and in all, in ms.

    Keep-alives do not reset `idle_ms`.
    """

    connect_ms: Annotated[int, Field(gt=0)] = 10_000
    first_byte_ms: Annotated[int, Field(gt=0)] = 120_000
    idle_ms: Annotated[int, Field(gt=0)] = 60_000
    total_ms: Annotated[int, Field(gt=0)] = 600_000


class ContextRead(Model):
    """What was read of Discord for a request, whose body is the truth of what was sent.

    `messages` are those that the context tells of, the oldest first, the one that asked last. `digest`: the SHA-256, in hex,
    of what it says, so that who reads the channel again can see whether it still says the same. `references`: the messages
    behind the opaque ids that stand in the body, by which tools find them.
    """

    messages: Annotated[tuple[Snowflake, ...], Field(max_length=101)]
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    references: dict[str, Snowflake] = Field(default_factory=dict)


class ProviderRequest(Record):
    """An HTTP request for one generation. Past `ttl_ms` after its record's time it is not sent but ends as expired.

    Version 2 added `blobs`, without which a reader would send pictures as empty strings, and `google-adc`.
    """

    version: ClassVar[int] = 2

    channel_id: Snowflake
    guild_id: Snowflake | None = Field(
        default=None, description="whose share of the streams it takes; None: a DM's own"
    )
    turn: TurnId
    generation: GenerationNumber
    caused_by: Snowflake = Field(description="the snowflake of the turn's message, for channel-wide stops")
    dialect: Dialect
    provider: str
    model: str
    url: str
    headers: dict[str, str] = Field(default_factory=dict)
    body: FiniteObject
    blobs: Annotated[tuple[BlobPlace, ...], Field(max_length=256)] = ()
    credential: CredentialRef
    verbatim_tools: tuple[KnownTool, ...] = Field(
        default=(),
        description="the tools on offer, where the model is one whose calls are looked for in its text; else empty",
    )
    ttl_ms: Annotated[int, Field(gt=0)] = 240_000
    deadlines: StreamDeadlines = StreamDeadlines()
    rules_version: Annotated[int, Field(ge=1, description="the stamp of the turn's message, for raw")] = 1
    attempt: AttemptFacts | None = Field(default=None, exclude_if=is_absent, description="what the call uses, for raw")
    read: ContextRead | None = Field(default=None, exclude_if=is_absent, description="what the body was made of")
