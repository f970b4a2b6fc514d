"""A provider-native request as context made it: all but the secret."""

from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue

from schemas.attempts import AttemptFacts
from schemas.base import GenerationNumber, Model, Record, Snowflake, TurnId, is_absent
from schemas.chunks import Dialect


class CredentialRef(Model):
    """Which secret the provider worker adds, and how; the secret itself never enters a topic."""

    name: str = Field(description="the credential's name in the worker's settings, or empty for none")
    placement: Literal["bearer", "x-api-key", "x-goog-api-key", "none"]


class KnownTool(Model):
    """A tool on offer to a model that writes its calls as text. `needs_arguments`: a call without any is no call."""

    name: str
    needs_arguments: bool = True

    @classmethod
    def of(cls, name: str, parameters: object) -> "KnownTool":
        """The tool of a JSON Schema of its parameters, as chat requests have it; without one it takes none."""
        schema = cast("dict[str, object]", parameters) if isinstance(parameters, dict) else {}
        return cls(name=name, needs_arguments=bool(schema.get("required")))


class StreamDeadlines(Model):
    """How long the provider worker waits: for the connection, the first byte, between bytes, and in all, in ms.

    Keep-alives do not reset `idle_ms`.
    """

    connect_ms: Annotated[int, Field(gt=0)] = 10_000
    first_byte_ms: Annotated[int, Field(gt=0)] = 120_000
    idle_ms: Annotated[int, Field(gt=0)] = 60_000
    total_ms: Annotated[int, Field(gt=0)] = 600_000


class ProviderRequest(Record):
    """An HTTP request for one generation. Past `ttl_ms` after its record's time it is not sent but ends as expired."""

    channel_id: Snowflake
    turn: TurnId
    generation: GenerationNumber
    caused_by: Snowflake = Field(description="the snowflake of the turn's message, for channel-wide stops")
    dialect: Dialect
    provider: str
    model: str
    url: str
    headers: dict[str, str] = Field(default_factory=dict)
    body: dict[str, JsonValue]
    credential: CredentialRef
    verbatim_tools: tuple[KnownTool, ...] = Field(
        default=(),
        description="the tools on offer, where the model is one whose calls are looked for in its text; else empty",
    )
    ttl_ms: Annotated[int, Field(gt=0)] = 240_000
    deadlines: StreamDeadlines = StreamDeadlines()
    rules_version: Annotated[int, Field(ge=1, description="the stamp of the turn's message, for raw")] = 1
    attempt: AttemptFacts | None = Field(default=None, exclude_if=is_absent, description="what the call uses, for raw")
