"""One line that says what a record is about, whatever its bytes are."""

import re
from collections.abc import Mapping
from typing import cast

import orjson

_CHARS = 180
_READ_BYTES = 1_000_000
_DELTA = re.compile(r'"(?:delta|parts)"\s*:')

JsonObject = Mapping[str, object]


def json_object(value: bytes | None) -> JsonObject:
    """The value as a JSON object; an empty one where it is anything else, or too large to be read for one line."""
    if value is None or len(value) > _READ_BYTES:
        return {}
    try:
        parsed: object = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return cast(JsonObject, parsed) if isinstance(parsed, dict) else {}


def glance(record_type: str, headers: Mapping[str, str], value: bytes | None, content: JsonObject) -> str:
    """What the record says, in one line of at most 180 characters. `content` is its value as `json_object` reads it."""
    match record_type:
        case "MessageReceived":
            text = f"{text_at(content, 'author', 'name')}: {text_at(content, 'content')}"
        case "StopRequested":
            text = f"{text_at(content, 'manner')}, {text_at(content, 'target', 'kind')}"
        case "TurnInterrupted":
            text = text_at(content, "reason")
        case "GenerationRequested":
            emitted = len(text_at(content, "emitted"))
            text = text_at(content, "why") + (f", after {emitted} characters" if emitted else "")
        case "ProviderRequest":
            text = f"{text_at(content, 'dialect')} · {text_at(content, 'model')} · {text_at(content, 'url')}"
        case "RawSlice":
            text = _news((value or b"").decode("utf-8", "replace"))
        case "RawEnd":
            text = " · ".join(headers[name] for name in ("ending", "http-status", "detail") if name in headers)
        case "ChunkBatch":
            text = _batch(content)
        case "GenerationFailed":
            text = f"{text_at(content, 'error', 'code')}: {text_at(content, 'error', 'message')}"
        case "SendText":
            text = ("[stop] " if content.get("stop_button") is True else "") + text_at(content, "text")
        case "Typing":
            text = "typing…" if content.get("active") is True else "typing ends"
        case "ClearStopButton":
            text = f"off message {text_at(content, 'of')}"
        case "Cancel":
            text = f"from {text_at(content, 'first')} on"
        case "DeliveryReceipt":
            text = _receipt(content)
        case "TimerFired":
            text = text_at(content, "timer")
        case "Claimed":
            text = f"{text_at(content, 'effect')} by {text_at(content, 'instance')}"
        case "Closed":
            text = f"{text_at(content, 'effect')} · {text_at(content, 'outcome')}"
        case "TurnFinished":
            text = _finished(content)
        case "ChannelSnapshot":
            text = f"settled up to inbox offset {text_at(content, 'settled')}"
        case "DeadLetter":
            text = " · ".join(
                headers[name] for name in ("dead-letter-service", "dead-letter-reason") if name in headers
            )
        case _:
            text = (value or b"")[: 4 * _CHARS].decode("utf-8", "replace")
    return one_line(text)


def _news(sse: str) -> str:
    """A slice from its first delta on: what stands before it is the same in each one."""
    start = _DELTA.search(sse[:4_000])
    return sse if start is None else f"… {sse[start.start() :]}"


def _batch(content: JsonObject) -> str:
    chunks = content.get("chunks")
    parts: list[str] = []
    others: list[str] = []
    for chunk in cast(list[object], chunks) if isinstance(chunks, list) else []:
        if not isinstance(chunk, dict):
            continue
        entry = cast(JsonObject, chunk)
        kind = text_at(entry, "type")
        if kind == "text":
            parts.append(text_at(entry, "content"))
        elif kind == "error":
            others.append(f"error {text_at(entry, 'error', 'code')}")
        elif kind == "done":
            others.append(f"done {text_at(entry, 'metadata', 'finish_reason')}".strip())
        else:
            others.append(kind)
    end = text_at(content, "end")
    if end:
        others.append(f"end: {end}")
    said = "".join(parts)
    return " · ".join([*([f"“{said}”"] if said else []), *others]) or "nothing new"


def _receipt(content: JsonObject) -> str:
    kind = text_at(content, "outcome", "kind")
    about = text_at(content, "outcome", "message_id") or text_at(content, "outcome", "reason")
    return f"{kind} {about}".strip()


def _finished(content: JsonObject) -> str:
    messages = text_at(content, "messages")
    facts = [text_at(content, "status"), f"{messages} message{'' if messages == '1' else 's'}"]
    tokens = text_at(content, "usage", "output_tokens")
    if tokens:
        facts.append(f"{tokens} tokens out")
    return " · ".join(facts)


def text_at(content: JsonObject, *path: str) -> str:
    """The string or number at the path, empty where there is none."""
    found: object = content
    for name in path:
        if not isinstance(found, dict):
            return ""
        found = cast(JsonObject, found).get(name)
    if isinstance(found, str):
        return found
    return str(found) if isinstance(found, int | float) and not isinstance(found, bool) else ""


def one_line(text: str) -> str:
    """The beginning of a text in one line of at most 180 characters."""
    line = " ".join(text[: 4 * _CHARS].strip().replace("\n\n", " ⏎ ").split())
    return line if len(line) <= _CHARS else line[: _CHARS - 1] + "…"
