"""One record of the log as one line: for people, with all that could steer a terminal made visible, or as JSON."""

import base64
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from schemas import raw
from schemas.errors import BadRecord
from schemas.headers import HeaderReader
from services.cli.printable import printable
from services.runtime.log import LogRecord

GLANCE = 100
_PARSED_BYTES = 64 * 1024
_SHOWN_ELSEWHERE = frozenset({"channel_id", "turn", "generation", "sequence", "version"})
_ID_PARTS = re.compile(r"[:/]")

_DIM, _BOLD, _CYAN, _GREEN, _YELLOW, _RED, _PLAIN = (f"\x1b[{code}m" for code in (2, 1, 36, 32, 33, 31, 0))
_LOUD = {"GenerationFailed": _RED, "DeadLetter": _RED, "StopRequested": _YELLOW, "TurnInterrupted": _YELLOW}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records are shown. A record without a turn header is of a turn where its event id names the turn."""

    since_ms: int
    channel: str | None = None
    turn: str | None = None

    def takes(self, record: LogRecord) -> bool:
        """Whether the record is shown."""
        if record.timestamp_ms < self.since_ms:
            return False
        headers = _texts(record)
        if self.channel is not None and self.channel not in (_text(record.key), headers.get("channel")):
            return False
        return self.turn is None or self.turn in (headers.get("turn"), *_ID_PARTS.split(headers.get("id", "")))


def readable(record: LogRecord, *, colours: bool) -> str:
    """The record in one line without a line end: time (UTC), place, type, turn, generation, sequence, a glance."""
    headers = _texts(record)
    kind = headers.get("type", "?")
    generation, sequence = headers.get("generation"), headers.get("sequence")
    parts = (
        (_DIM, _time(record.timestamp_ms)),
        (_CYAN, f"{record.topic}/{record.partition}@{record.offset}"),
        (_LOUD.get(kind, _BOLD), printable(kind[:40])),
        (_GREEN, printable(headers.get("turn", "-")[:64])),
        ("", f"g{printable(generation[:19])}" if generation else "-"),
        ("", f"#{printable(sequence[:19])}" if sequence else "-"),
        ("", glance(record)),
    )
    return " ".join(f"{colour}{text}{_PLAIN}" if colours and colour else text for colour, text in parts if text)


def as_json(record: LogRecord) -> str:
    """The record as one JSON object without a line end; a value that is no UTF-8 stands in `value_base64`."""
    content: dict[str, object] = {
        "time_ms": record.timestamp_ms,
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "key": None if record.key is None else _text(record.key),
        "headers": _texts(record),
    }
    try:
        text = None if record.value is None else record.value.decode()
        content["value"] = text if text is None or _is_bytes(record) else _parsed(text)
    except UnicodeDecodeError:
        content["value_base64"] = base64.b64encode(record.value or b"").decode()
    # All but ASCII escaped: the C1 controls and direction marks must not reach a terminal from here either.
    try:
        return json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    except RecursionError:
        return json.dumps({**content, "value": _text(record.value)}, ensure_ascii=True, separators=(",", ":"))


def glance(record: LogRecord) -> str:
    """The start of what the value says: stream text for slices, how it ended for ends, JSON less what stands elsewhere."""
    headers = _texts(record)
    kind = headers.get("type", "?")
    if kind == raw.END:
        said = [headers[name] for name in ("ending", "http-status", "detail") if name in headers]
        return _cut(" ".join(said))
    if kind == "DeadLetter":
        origin = "/".join(headers.get(f"dead-letter-{part}", "?") for part in ("topic", "partition", "offset"))
        return _cut(f"{origin} {headers.get('dead-letter-reason', '?')}: {headers.get('dead-letter-message', '')}", 200)
    if record.value is None:
        return "(no value)"
    problem = "" if kind != "?" else _problem(record)
    if problem:
        return _cut(f"({problem}) {_text(record.value[:GLANCE])}", 200)
    if _is_bytes(record) or len(record.value) > _PARSED_BYTES:
        return _cut(_text(record.value[: GLANCE * 4]), whole=len(record.value) <= GLANCE * 4)
    return _cut(_essence(_text(record.value)))


def _essence(text: str) -> str:
    """The JSON without what is empty or stands elsewhere in the line; text that is no JSON as it is."""
    parsed = _parsed(text)
    if not isinstance(parsed, dict):
        return text
    fields = cast(dict[str, object], parsed)
    try:
        lean = _lean({name: value for name, value in fields.items() if name not in _SHOWN_ELSEWHERE})
        return json.dumps(lean, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return text


def _lean(value: object) -> object:
    """The value without what is null or empty."""
    if isinstance(value, dict):
        fields = {name: _lean(inner) for name, inner in cast(dict[str, object], value).items()}
        return {name: inner for name, inner in fields.items() if inner not in (None, [], {}, "")}
    if isinstance(value, list):
        return [_lean(inner) for inner in cast(list[object], value)]
    return value


def _cut(text: str, most: int = GLANCE, *, whole: bool = True) -> str:
    return printable(text[:most]) + ("" if whole and len(text) <= most else "…")


def _parsed(text: str) -> object:
    try:
        return cast(object, json.loads(text))
    except (ValueError, RecursionError):
        return text


def _problem(record: LogRecord) -> str:
    try:
        HeaderReader(record.headers).facts()
    except BadRecord as error:
        return str(error)
    return ""


def _is_bytes(record: LogRecord) -> bool:
    return _texts(record).get("type") in (raw.SLICE, raw.END, "DeadLetter")


def _texts(record: LogRecord) -> dict[str, str]:
    """The headers as text, the first of equal names."""
    texts: dict[str, str] = {}
    for name, value in record.headers:
        texts.setdefault(name, _text(value))
    return texts


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _time(timestamp_ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms}ms"
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp_ms % 1000:03d}Z"
