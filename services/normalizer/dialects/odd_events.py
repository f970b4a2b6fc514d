"""Events that are not a dialect's ordinary payload: errors, bare text, broken JSON."""

from services.normalizer.decode import UNREADABLE, is_array, is_object, loads
from services.normalizer.errors import event_error, is_refusal, stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import Event, Failed
from services.normalizer.sse_event import SseEvent

_KEEP_ALIVES = frozenset({b"ping", b"heartbeat", b"keepalive", b"keep-alive"})
"""Names of events that proxies send to keep a connection open, and whose data may be any text."""


def tells_refusal(data: bytes) -> bool:
    """Whether a payload that holds nothing of a reply is an error, though not under the name."""
    try:
        return is_refusal(loads(data))
    except UNREADABLE:
        return False


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
    if is_array(payload) and payload:
        payload = payload[0]
    if is_object(payload) or (isinstance(payload, str) and payload):
        out.append(Failed(event_error(payload, event.data, family)))
