"""The facts about a record that travel in Kafka headers, so that `kcat` shows a readable stream."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from schemas.errors import HeaderInvalid, HeaderMissing

Headers = tuple[tuple[str, bytes], ...]
Origin = Literal["live", "replay"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)
Choice = TypeVar("Choice", bound=str)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reader knows of a record without parsing its value.

    `id` is made from the record's cause, so a repeated output has the same one. `cause` is the offset in `inbox` of
    the event that led to the record. `sequence` is the position within the generation (raw, chunk batches) or the
    turn (deliveries).
    """

    type: str
    version: int
    id: str
    channel: str
    turn: str | None = None
    generation: int | None = None
    sequence: int | None = None
    cause: int | None = None
    traceparent: str | None = None
    origin: Origin = "live"

    def headers(self) -> Headers:
        """The facts as Kafka headers, absent ones left out, always in the same order."""
        texts: list[tuple[str, str | int | None]] = [
            ("type", self.type),
            ("version", self.version),
            ("id", self.id),
            ("channel", self.channel),
            ("turn", self.turn),
            ("generation", self.generation),
            ("sequence", self.sequence),
            ("cause", self.cause),
            ("traceparent", self.traceparent),
            ("origin", self.origin),
        ]
        return tuple((name, str(value).encode()) for name, value in texts if value is not None)


class HeaderReader:
    """Typed access to the headers of one record; the first of several equal names counts."""

    def __init__(self, headers: Iterable[tuple[str, bytes | None]]) -> None:
        self._values: dict[str, bytes] = {}
        for name, value in headers:
            if value is not None:
                self._values.setdefault(name, value)

    def text(self, name: str) -> str | None:
        """The header as text, None where it is absent; raises HeaderInvalid where it is no UTF-8."""
        value = self._values.get(name)
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise HeaderInvalid(f"header {name!r} is not UTF-8") from error

    def need(self, name: str) -> str:
        """The header as text; raises HeaderMissing where it is absent."""
        text = self.text(name)
        if text is None:
            raise HeaderMissing(f"header {name!r} is missing; the record has {sorted(self._values) or 'none'}")
        return text

    def number(self, name: str) -> int | None:
        """The header as a non-negative integer, None where it is absent; raises HeaderInvalid for anything else."""
        text = self.text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 19):
            raise HeaderInvalid(f"header {name!r} is {text[:40]!r}, not a number")
        return int(text)

    def need_number(self, name: str) -> int:
        """The header as a non-negative integer; raises HeaderMissing or HeaderInvalid."""
        self.need(name)
        return self.number(name) or 0

    def choice(self, name: str, options: tuple[Choice, ...]) -> Choice:
        """The header as one of the options; raises HeaderMissing or HeaderInvalid."""
        text = self.need(name)
        for option in options:
            if option == text:
                return option
        raise HeaderInvalid(f"header {name!r} is {text[:40]!r}, not one of {', '.join(options)}")

    def facts(self) -> Facts:
        """All facts; raises HeaderMissing for type, version, id or channel, HeaderInvalid for bad values."""
        return Facts(
            type=self.need("type"),
            version=self.need_number("version"),
            id=self.need("id"),
            channel=self.need("channel"),
            turn=self.text("turn"),
            generation=self.number("generation"),
            sequence=self.number("sequence"),
            cause=self.number("cause"),
            traceparent=self.text("traceparent"),
            origin=self.choice("origin", ORIGINS) if self.text("origin") else "live",
        )
