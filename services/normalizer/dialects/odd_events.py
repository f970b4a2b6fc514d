"""Events that are not a dialect's ordinary payload: errors, bare text, broken JSON."""

import re

from services.normalizer.decode import UNREADABLE, first_of, is_object, loads, word
from services.normalizer.errors import event_error, is_refusal, stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import Event, Failed
from services.normalizer.sse_event import SseEvent

_TELLING = frozenset({"error", "errors", "base_resp", "Error"})
_KEEP_ALIVES = frozenset({b"ping", b"heartbeat", b"keepalive", b"keep-alive"})
"""Names of events that proxies send to keep a connection open, and whose data may be any text."""


_FAILS = re.compile(r"err|fail|exception|denied|refus", re.IGNORECASE)
_NAMES = (b"", b"message")


def tells_refusal(event: SseEvent) -> bool:
    """Whether a payload that holds nothing of a reply is an error, though not under the name.

    Proxies also send words about what goes on, with a message: as an event of a name, or with a `status` or a `type`.
    """
    if event.name not in _NAMES and not _FAILS.search(event.name.decode("utf-8", "replace")):
        return False
    try:
        return fails(loads(event.data))
    except UNREADABLE:
        return False


def fails(payload: object) -> bool:
    """Whether it is a refusal, and no word about what goes on."""
    if not is_refusal(payload) or not is_object(payload):
        return False
    kind = word(payload, "status") or word(payload, "type")
    return not kind or bool(_FAILS.search(kind)) or "code" in payload or not payload.keys().isdisjoint(_TELLING)


def read_odd(event: SseEvent, out: list[Event], family: Family) -> None:
    """Append the failure that this event reports or is, by the family's rules; nothing for an event without data."""
    data = event.data.strip()
    if not data or data == b"[DONE]":
        return
    try:
        payload = loads(data)
    except UNREADABLE:
        if event.name in _KEEP_ALIVES:
            return
        text = event.data.decode("utf-8", "replace")
        if event.name != b"error":
            out.append(Failed(stream_error("malformed_event", "an event holds no JSON", original=text)))
            return
        payload = text
    payload = first_of(payload)
    if is_object(payload) or (isinstance(payload, str) and payload):
        out.append(Failed(event_error(payload, event.data, family)))
