"""Raw records: the provider's bytes as they came, a slice a record, then one end; all facts stand in headers.

The value of a slice is what the provider sent and nothing else, so a raw topic read with `kcat` is just SSE text.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError

from schemas.attempts import AttemptFacts
from schemas.base import TURN_LENGTH
from schemas.chunks import Dialect
from schemas.errors import HeaderInvalid, NewerVersion, UnknownRecordType
from schemas.headers import HeaderReader, Headers
from schemas.prompts import KnownTool

SLICE = "RawSlice"
END = "RawEnd"
VERSION = 1
_ANSWER = "answer-"
"""Before the name of a header of the provider's answer."""

NOBODY = "nobody"
"""The instance of an end that somebody declared who did not hold the stream; several may, so it names none of them."""


Ending = Literal[
    "eof",
    "reset",
    "stopped",
    "http_error",
    "connect_failed",
    "first_byte_timeout",
    "idle_timeout",
    "total_timeout",
    "too_large",
    "expired",
    "lost",
]
"""How a stream ended. `lost`: its holder died or was declared dead; written without a sequence by whoever noticed."""

RETRY_HEADERS: tuple[str, ...] = (
    "retry-after-ms",
    "x-should-retry",
    "x-ratelimit-reset",
    *(f"x-ratelimit-{what}-{limit}" for limit in ("requests", "tokens") for what in ("remaining", "reset")),
    *(
        f"anthropic-ratelimit-{limit}-{what}"
        for limit in ("requests", "tokens", "input-tokens", "output-tokens")
        for what in ("remaining", "reset")
    ),
)
"""The headers of an answer, beside `retry-after`, that say whether and when to ask again; in lower case."""

ENDINGS: tuple[Ending, ...] = get_args(Ending)
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
_TOOLS = TypeAdapter(tuple[KnownTool, ...])


@dataclass(frozen=True, slots=True)
class RawOrigin:
    """What every raw record of a stream says: whose it is and how to read it. `provider` is empty in old records.

    `rules_version` is the stamp of the turn's message; records that were written before there was one have 1.
    """

    turn: str
    generation: int
    instance: str
    dialect: Dialect
    model: str
    provider: str = ""
    rules_version: int = 1


@dataclass(frozen=True, slots=True)
class RawSlice:
    """Some bytes of a response body.

    `masked`: a secret that the provider echoed was overwritten, byte for byte. `verbatim_tools`: the request's, in the first
    slice of the stream only.
    """

    origin: RawOrigin
    sequence: int
    http_status: int
    content_type: str
    masked: bool = False
    verbatim_tools: tuple[KnownTool, ...] = ()

    def headers(self) -> Headers:
        """The headers that are particular to slices; the common facts are added by the writer."""
        own: list[tuple[str, str]] = [
            *_origin_headers(self.origin),
            ("http-status", str(self.http_status)),
            ("content-type", self.content_type),
        ]
        if self.masked:
            own.append(("masked", "1"))
        if self.verbatim_tools:
            own.append(("verbatim-tools", _TOOLS.dump_json(self.verbatim_tools).decode()))
        return tuple((name, value.encode()) for name, value in own)


@dataclass(frozen=True, slots=True)
class RawEnd:
    """The end of a stream. `sequence` is the last slice's + 1, or None where it was declared lost by another.

    `detail` is a short reason for people, without secrets. `retry_after` is the provider's header as it came.
    `retry_hints` are those of RETRY_HEADERS that came with it. `attempt` is the request's, if the stream's holder wrote
    the end.
    """

    origin: RawOrigin
    sequence: int | None
    ending: Ending
    http_status: int | None = None
    retry_after: str | None = None
    detail: str | None = None
    retry_hints: tuple[tuple[str, str], ...] = ()
    attempt: AttemptFacts | None = None

    def headers(self) -> Headers:
        """The headers that are particular to ends; the common facts are added by the writer."""
        own: list[tuple[str, str | None]] = [
            *_origin_headers(self.origin),
            ("ending", self.ending),
            ("http-status", None if self.http_status is None else str(self.http_status)),
            ("retry-after", self.retry_after),
            ("detail", self.detail),
            *((f"{_ANSWER}{name}", value) for name, value in self.retry_hints),
            ("attempt", None if self.attempt is None else self.attempt.model_dump_json()),
        ]
        return tuple((name, value.encode()) for name, value in own if value is not None)


def parse_raw(reader: HeaderReader) -> RawSlice | RawEnd:
    """The raw record behind the headers; raises UnknownRecordType, NewerVersion, HeaderMissing or HeaderInvalid."""
    facts = reader.facts()
    if facts.generation == 0:
        raise HeaderInvalid("header 'generation' is 0, they are numbered from 1")
    if len(facts.turn or "") > TURN_LENGTH:
        raise HeaderInvalid(f"header 'turn' is longer than {TURN_LENGTH} characters")
    if facts.type not in (SLICE, END):
        raise UnknownRecordType(f"header 'type' is {facts.type[:40]!r}, neither {SLICE} nor {END}")
    if facts.version > VERSION:
        raise NewerVersion(
            f"{facts.type} has version {facts.version}, this code reads up to {VERSION}; deploy the readers first"
        )
    rules_version = reader.number("rules")
    origin = RawOrigin(
        turn=reader.need("turn"),
        generation=reader.need_number("generation"),
        instance=reader.need("instance"),
        dialect=reader.choice("dialect", DIALECTS),
        model=reader.need("model"),
        provider=reader.text("provider") or "",
        rules_version=1 if rules_version is None else rules_version,
    )
    if facts.type == SLICE:
        return RawSlice(
            origin=origin,
            sequence=reader.need_number("sequence"),
            http_status=reader.need_number("http-status"),
            content_type=reader.text("content-type") or "",
            masked=reader.text("masked") == "1",
            verbatim_tools=_tools(reader.text("verbatim-tools")),
        )
    ending: Ending = reader.choice("ending", ENDINGS)
    if facts.sequence is None and ending != "lost":
        raise HeaderInvalid(f"an end {ending!r} needs the header 'sequence'; only a lost one may stand without")
    return RawEnd(
        origin=origin,
        sequence=facts.sequence,
        ending=ending,
        http_status=reader.number("http-status"),
        retry_after=reader.text("retry-after"),
        detail=reader.text("detail"),
        retry_hints=tuple(
            (name, value) for name in RETRY_HEADERS if (value := reader.text(f"{_ANSWER}{name}")) is not None
        ),
        attempt=_attempt(reader.text("attempt")),
    )


def _origin_headers(origin: RawOrigin) -> list[tuple[str, str]]:
    own = [
        ("instance", origin.instance),
        ("dialect", origin.dialect),
        ("model", origin.model),
        ("rules", str(origin.rules_version)),
    ]
    return [*own, ("provider", origin.provider)] if origin.provider else own


def _attempt(text: str | None) -> AttemptFacts | None:
    if text is None:
        return None
    try:
        return AttemptFacts.model_validate_json(text)
    except ValidationError as error:
        raise HeaderInvalid("header 'attempt' does not hold the facts of one") from error


def _tools(text: str | None) -> tuple[KnownTool, ...]:
    if text is None:
        return ()
    try:
        return _TOOLS.validate_json(text)
    except ValidationError as error:
        raise HeaderInvalid("header 'verbatim-tools' is no list of tools") from error
