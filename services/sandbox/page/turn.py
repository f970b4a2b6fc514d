"""One turn on the spool: what is known of it, and its records within a bound of memory."""

from dataclasses import dataclass, field

import orjson

from schemas.headers import Headers
from services.runtime.log import LogRecord
from services.sandbox.page.glance import JsonObject, glance, one_line, text_at
from services.sandbox.page.hops import Hops
from services.sandbox.page.jsontypes import RecordView, RowView, TurnView

ROWS = 500
STREAM_ROWS = 400
VALUE_BYTES = 64 * 1024
TURN_BYTES = 1024 * 1024
HEADER_BYTES = 4 * 1024
_NAME_CHARS = 60
_STREAM = ("RawSlice", "ChunkBatch")
_BARE_TOPICS = ("raw", "dead-letters")


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record with its headers as texts and its value as a JSON object, empty where it is none."""

    record: LogRecord
    type: str
    headers: dict[str, str]
    content: JsonObject


@dataclass(frozen=True, slots=True)
class _Kept:
    row: RowView
    headers: Headers
    value: bytes | None
    whole: bool


@dataclass(slots=True)
class Turn:
    """A turn. `dated`: `began_ms` is the time of its message; else it is that of its oldest record so far.

    `last_ms` is the time of its newest record, `ended_ms` that of its TurnFinished.
    """

    turn: str
    channel: str
    began_ms: int
    dated: bool
    last_ms: int
    ended_ms: int | None = None
    title: str = ""
    author: str = ""
    status: str = "waiting"
    model: str = ""
    generations: int = 0
    count: int = 0
    unkept_stream: int = 0
    bytes_kept: int = 0
    hops: Hops = field(default_factory=Hops)
    kept: dict[str, _Kept] = field(default_factory=dict[str, _Kept])

    def wind(self, read: ReadRecord) -> RowView | None:
        """Take a record; returns its row where there was room for one.

        Of 500 rows 100 are left to what is no slice or batch of a stream, so that a long turn's end is seen.
        """
        record = read.record
        self.count += 1
        self.last_ms = max(self.last_ms, record.timestamp_ms)
        if not self.dated:
            self.began_ms = min(self.began_ms, record.timestamp_ms)
        self.hops.note(read.type, record.timestamp_ms)
        generation = number(read.headers.get("generation") or effect_of(read.content)[1])
        self.generations = max(self.generations, generation or 0)
        self._learn(read)
        streamed = read.type in _STREAM
        if len(self.kept) >= (STREAM_ROWS if streamed else ROWS):
            self.unkept_stream += streamed
            return None
        row = RowView(
            key=f"{record.topic}.{record.partition}.{record.offset}.{record.timestamp_ms}",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            at_ms=record.timestamp_ms,
            type=read.type,
            generation=generation,
            sequence=number(read.headers.get("sequence")),
            glance=glance(read.type, read.headers, record.value, read.content),
            size=len(record.value or b""),
        )
        self._keep(row, record)
        return row

    def view(self, waited_until_ms: int | None) -> TurnView:
        """The turn in short; `waited_until_ms` is the end of the turn that it waited for, if any."""
        return TurnView(
            turn=self.turn,
            channel=self.channel,
            began_ms=self.began_ms,
            last_ms=self.last_ms if self.ended_ms is None else self.ended_ms,
            title=self.title,
            author=self.author,
            status=self.status,
            model=self.model,
            generations=self.generations,
            rows=self.count,
            kept=len(self.kept),
            unkept_stream=self.unkept_stream,
            hops=self.hops.view(self.began_ms, waited_until_ms),
        )

    def record(self, key: str) -> RecordView | None:
        """One record with its headers and its value, pretty where it is JSON; None where it is not kept."""
        kept = self.kept.get(key)
        if kept is None:
            return None
        view = RecordView(row=kept.row, headers=_listed(kept.headers), form="text", value="", cut=not kept.whole)
        if kept.value is None:
            view["form"] = "none" if kept.whole else "dropped"
            return view
        pretty = _pretty(kept.value) if kept.whole and kept.row["topic"] not in _BARE_TOPICS else None
        if pretty is None:
            view["value"] = kept.value.decode("utf-8", "replace")
        else:
            view["form"], view["value"] = "json", pretty
        return view

    def _learn(self, read: ReadRecord) -> None:
        content = read.content
        match read.type:
            case "MessageReceived":
                self.title = one_line(text_at(content, "content"))
                self.author = one_line(text_at(content, "author", "name"))
            case "TurnFinished":
                if self.ended_ms is None:
                    self.ended_ms = read.record.timestamp_ms
                self.status = text_at(content, "status")[:_NAME_CHARS] or "finished"
                self.model = text_at(content, "model")[:_NAME_CHARS] or self.model
            case "RawSlice":
                self.model = read.headers.get("model", self.model)[:_NAME_CHARS]
            case "GenerationRequested" if self.status == "waiting":
                self.status = "running"
            case _:
                pass

    def _keep(self, row: RowView, record: LogRecord) -> None:
        headers: Headers = ()
        size = 0
        for name, value in record.headers:
            size += len(name) + len(value or b"")
            if size > HEADER_BYTES:
                break
            headers += ((name, value or b""),)
        room = max(0, min(VALUE_BYTES, TURN_BYTES - self.bytes_kept))
        value = record.value
        whole = value is None or len(value) <= room
        if value is not None and not whole:
            value = value[:room] or None
        self.bytes_kept += len(value or b"")
        self.kept[row["key"]] = _Kept(row, headers, value, whole)


def effect_of(content: JsonObject) -> tuple[str, str]:
    """The turn and the generation in a claim's effect, such as `stream:m123:1`; empty ones for anything else."""
    parts = text_at(content, "effect").split(":")
    return (parts[1], parts[2]) if len(parts) == 3 else ("", "")


def number(text: str | None) -> int | None:
    """A header's number, None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 15 else None


def _listed(headers: Headers) -> list[tuple[str, str]]:
    return [(name, value.decode("utf-8", "replace")) for name, value in headers]


def _pretty(value: bytes) -> str | None:
    try:
        return orjson.dumps(orjson.loads(value), option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
